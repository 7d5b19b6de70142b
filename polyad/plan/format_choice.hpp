#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "polyad/plan/als_cost.hpp"
#include "polyad/plan/plan_als.hpp"
#include "polyad/tensor/local_tensor.hpp"

namespace polyad {

// A storage format of a tensor with the plan of an iteration, and predictions.
struct FormatOption {
  std::string name;  // name as in the option `format`
  Format format = Format::csf;
  AlsPlan plan;
  double seconds = 0;                                       // predicted time of an iteration
  double build_seconds = 0;                                 // predicted time to build the format
  Index format_bytes = 0, work_bytes = 0, build_bytes = 0;  // in bytes

  // Predicted peak memory in bytes, including the program itself.
  Index peak_bytes() const;
};

// Sketches that estimate the number of distinct index tuples, [mode set]. Those
// of several processes can be merged to those of the whole tensor. `all_rows`:
// number of rows of the whole tensor, by mode; `rows`: see sketch_distinct.
using FiberSketches = std::map<ModeSet, DistinctSketch>;
template <class Real>
FiberSketches sketch_fibers(const SparseTensor<Real, LocalIndex>& x,
                            std::span<const std::span<const Index>> rows, std::span<const Index> all_rows);

// The counts that the planner uses, as far as the sketches provide them.
TensorShape shape_of(std::vector<Index> rows, Index num_nonzeros, const FiberSketches& sketches);

// The default order in which modes are updated: that of the fastest iteration on a nominal
// machine. It depends only on the tensor and the number of components, and so does the
// trajectory: not on the format, the precision, the threads or the memory available.
std::vector<int> choose_mode_order(const TensorShape& shape, Index num_components);

// Names of all formats: csf (trees chosen by the planner), csf-one,
// csf-two, csf-all, coo, hicoo; and the formats with their predictions.
// `plan_trees` makes the plans of those with trees: plan_csf, or plan_evaluation for CP-OPT.
const std::vector<std::string>& format_names();
using PlanTrees = AlsPlan (*)(const AlsCost&, const AlsPlanOptions&);
std::vector<FormatOption> list_formats(const AlsCost& cost, const std::vector<int>& mode_order,
                                       PlanTrees plan_trees = plan_csf);

// The same for coarse grain, where each mode has a tensor of its own that is
// only used for its rows: a tree rooted at the mode, or a list. costs: [mode].
std::vector<FormatOption> list_coarse_formats(std::span<const AlsCost> costs,
                                              const std::vector<int>& mode_order);

// To build it and iterate a usual number of times.
double usual_seconds(const FormatOption& option);

// The format with the smallest usual_seconds, among
// those with this name ("auto": all) that fit into max_bytes (0: no limit). Nothing if none fits.
std::optional<FormatOption> choose_format(const std::vector<FormatOption>& options, const std::string& name,
                                          Index max_bytes);

}  // namespace polyad
