#pragma once

#include <optional>
#include <vector>

#include "polyad/distributed/cp/distribution.hpp"
#include "polyad/distributed/cp/greedy_owners.hpp"
#include "polyad/distributed/cp/load_sample.hpp"

namespace polyad {

// Work and communication of one part for one mode in an iteration, in rows of one word per component.
struct PartLoad {
  Index nonzeros = 0;            // nonzeros that it multiplies
  Index touched = 0;             // rows of the mode in which it has nonzeros, for any mode
  Index local = 0;               // rows that it holds: touched or owned
  Index owned = 0;               // rows that it updates
  Index reduced = 0;             // rows that are all-reduced instead of exchanged
  Index sent = 0, received = 0;  // rows sent and received by fold and expand together
  Index messages = 0;            // messages that it sends

  friend bool operator==(const PartLoad&, const PartLoad&) = default;
};
// [mode][part]. Of parts that have nothing to do in any mode, all but one can be left out.
struct PartLoads : std::vector<std::vector<PartLoad>> {
  Index num_left_out = 0;

  Index num_parts() const { return std::ssize(front()) + num_left_out; }
};
// Whether all parts are listed that have nothing to do, or one for all of them.
enum class IdleParts { all, one };

// Converts the loads of a mode to those if the mode is replicated.
void replicate(std::vector<PartLoad>& loads);

// Computes the loads of distributions of a tensor without moving nonzeros, for any number of parts. With
// a fraction below 1, only a sample of about that fraction of the nonzeros is evaluated for each mode and
// extrapolated, which is fast and approximate. Memory is linear in the nonzeros and independent of the number
// of parts.
class LoadPlanner {
 public:
  // Every process has a share; if one process has all, a fraction of 1 is exact. Duplicates
  // count separately, unless those after the first are listed in `repeated`. Collective.
  LoadPlanner(const Comm& comm, const SparseTensor<double>& share, double fraction = 1,
              std::vector<Index> repeated = {});

  // Computes the loads. Collective. On several processes greedy and balanced
  // owners are predicted for ranges of rows, which approximates choose_owners.
  PartLoads loads(const Distribution& distribution, IdleParts idle = IdleParts::all) const;

 private:
  using Parts = Array<int>;  // [nonzero]

  // Nonzeros grouped by row: those of rows[i] are nonzeros[begin[i]], ..., nonzeros[begin[i + 1] - 1].
  struct RowGroups {
    Array<Index> rows;  // ascending
    std::vector<Index> begin;
    Array<Index> nonzeros;
    double fraction = 1;  // of the rows of the mode
  };
  static RowGroups group_by_row(const SparseTensor<double>& share, int mode);
  static RowGroups group_by_row(const LoadSample& sample, int mode);
  const RowGroups& evaluated(int mode) const { return sample_ ? sampled_groups_[mode] : groups_[mode]; }
  Parts parts_of(const NonzeroOwners& owners) const;
  Parts parts_of(const OwnedByList& owners) const;
  std::vector<Index> count_nonzeros(const Parts& parts, int num_parts) const;
  RowParts rows_and_parts(int mode, const std::vector<Parts>& parts, int num_parts) const;
  Index max_busy_parts() const;
  PartLoads loads_of_busy(const Distribution& distribution, std::vector<Parts> parts) const;

  Comm comm_;
  const SparseTensor<double>& share_;
  std::optional<LoadSample> sample_;  // nothing: the whole share is evaluated
  std::vector<Index> repeated_;
  std::vector<RowGroups> groups_;          // [mode]: all nonzeros, of the sample if there is one
  std::vector<RowGroups> sampled_groups_;  // [mode]: of the sampled rows; empty without a sample
};

}  // namespace polyad
