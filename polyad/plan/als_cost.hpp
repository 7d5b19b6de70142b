#pragma once

#include <map>
#include <span>
#include <vector>

#include "polyad/base/machine_model.hpp"
#include "polyad/plan/als_plan.hpp"
#include "polyad/tensor/distinct_counts.hpp"

namespace polyad {

// What the planner knows of a tensor: counts only, not its nonzeros.
struct TensorShape {
  std::vector<Index> rows;             // [mode]: number of slices with nonzeros
  Index num_nonzeros = 0;              // after duplicates are summed
  std::map<ModeSet, double> distinct;  // distinct index tuples, estimated; see prefix_sets
  double num_blocks = 0;               // number of blocks in HiCOO

  int order() const { return int(rows.size()); }
  // Number of tree nodes at the level with these modes above; an upper bound where it was not estimated.
  double num_nodes(ModeSet modes) const;
};

struct CostOptions {
  Index num_components = 16;  // number of components
  Index value_bytes = 8;      // size of a value and of a factor entry
  int threads = 1;            // threads of this process
  // [mode]: fraction of the nonzeros in rows to which no other process contributes;
  // empty: 1 in all modes. The other rows are not complete after the pass that sums them.
  std::vector<double> complete_share = {};
  bool may_keep_sums = true;  // whether memory may be used to repeat no passes, see AlsStep
  MachineModel machine = {};
};

// Predicts seconds and bytes of a process: from the cost of fetching a row out of a table, by the table's
// size, of streaming and of arithmetic. The built-in costs of kernels/cp/work_cost.hpp are scaled by those
// that the machine model has in place of its defaults.
class AlsCost {
 public:
  AlsCost(const TensorShape& shape, const CostOptions& options);

  // Predicted time of one iteration, in seconds: of a CSF plan, of one of its steps, in COO and in HiCOO.
  double seconds(const AlsPlan& plan) const;
  double step_seconds(const AlsPlan& plan, const AlsStep& step) const;
  // Of a step, what solving the rows of a mode takes.
  double update_seconds(int mode) const { return update(mode) * 1e-9 / options_.threads; }
  double coo_seconds() const;
  double hicoo_seconds() const;
  // Updates a mode, and sums the one at the second level of its tree. Keeps sums where this is faster, and
  // needs no more memory than the nonzeros and the factors do.
  AlsStep root_and_next_step(std::span<const int> tree, int tree_index) const;
  // Predicted time to build one tree, in seconds.
  double tree_build_seconds() const;

  // Memory during the iterations, in bytes: of the format; of factors and the buffers of kernels.
  Index csf_format_bytes(std::span<const std::vector<int>> trees) const;
  Index coo_format_bytes() const;
  Index hicoo_format_bytes() const;
  Index work_bytes(const AlsPlan& plan) const;
  // The most that sums may take that are kept, and are part of work_bytes.
  Index max_kept_bytes() const;
  // Peak memory, in bytes, until the format is built: the coordinates and what sorting needs.
  Index build_bytes(Index format_bytes, Index num_trees) const;

  const TensorShape& shape() const { return shape_; }
  double complete_share(int mode) const {
    return options_.complete_share.empty() ? 1 : options_.complete_share[mode];
  }

 private:
  double row_lines() const;
  double line(double table_bytes) const;  // nanoseconds for a cache line of a row in a table of this size
  double gather(int mode) const;          // nanoseconds for a row of a factor
  double update(int mode) const;          // for solving all rows
  double root(std::span<const int> tree) const;
  double scatter(std::span<const int> tree, int mode) const;
  double root_and_next(std::span<const int> tree, bool keeps_sums) const;
  Index kept_bytes(std::span<const int> tree) const;
  double levels(std::span<const int> tree, int num_levels) const;
  Index tree_bytes(std::span<const int> tree) const;

  TensorShape shape_;
  CostOptions options_;
  // Nanoseconds of one thread while all threads are at work.
  double per_streamed_byte_, per_node_, per_index_, per_block_index_, per_sorted_nonzero_;
  // The time that the machine takes over that of the default machine model.
  double near_ratio_, far_ratio_, solve_ratio_;
};

}  // namespace polyad
