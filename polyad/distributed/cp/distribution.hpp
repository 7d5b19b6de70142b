#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "polyad/comm/process_grid.hpp"
#include "polyad/distributed/cp/distribution_options.hpp"
#include "polyad/distributed/cp/layers.hpp"
#include "polyad/distributed/cp/slice_profile.hpp"
#include "polyad/distributed/row_owners.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// The part of a nonzero is that of its slice in one mode.
struct OwnedBySlice {
  int mode = 0;
  RowOwners slices;
};
// The part of a nonzero is the cell of a process grid that contains it.
struct OwnedByCell {
  GridShape grid;
  std::vector<RowOwners> layers;  // [mode]: here "parts" are layers
};
// The part of each nonzero of this process's share, in order.
struct OwnedByList {
  std::vector<int> parts;
};
using NonzeroOwners = std::variant<OwnedBySlice, OwnedByCell, OwnedByList>;

// The part of every nonzero of the share.
std::vector<int> owners_of(const NonzeroOwners& owners, const SparseTensor<double>& share);

// The part that multiplies each nonzero and that owns each row; this determines the communication.
struct Distribution {
  Scheme scheme = Scheme::fine;
  int num_parts = 1;
  // One for all modes; in coarse grain one per mode, because
  // a process holds different nonzeros for every mode.
  std::vector<NonzeroOwners> nonzeros;
  std::vector<RowOwners> rows;  // [mode]; empty: determined by row_rule when the nonzeros are distributed
  RowRule row_rule = RowRule::greedy;  // owners of rows if `rows` is empty, else how these were chosen
  std::uint64_t seed = 1;              // seed of RowRule::random
  // [mode]: whether every process holds all rows of the factor; empty: in no mode. Not in coarse grain.
  std::vector<bool> is_replicated;

  // [mode]: number of stages in which rows reach their owners; empty: one in all modes, that is, directly.
  std::vector<int> num_stages;
  // [part]: its machine, any number; empty: not known. For rows that go in stages.
  std::vector<int> machines;

  bool replicates(int mode) const { return !is_replicated.empty() && is_replicated[mode]; }
  int stages(int mode) const { return num_stages.empty() ? 1 : num_stages[mode]; }

  // How the distribution was made, for output.
  std::string partition;
  std::optional<GridShape> grid;
  std::optional<LayerPolicy> policy;
};

// The owners of the rows of a mode by RowRule::random.
RowOwners random_owners(const Distribution& distribution, int mode, Index extent);

// Computes distributions of a tensor, of which every process has a share, over num_parts parts: as
// many as there are processes, or any number for planning. Collective, as profiles are: [mode].
class Distributor {
 public:
  Distributor(const Comm& comm, const SparseTensor<double>& share, int num_parts, std::uint64_t seed);

  int num_parts() const { return num_parts_; }
  const std::vector<SliceProfile>& profiles() const { return profiles_; }
  std::vector<Index> rows() const;  // [mode]: number of slices with nonzeros

  // Coarse grain with contiguous slices of equal nonzeros, or with random slices.
  Distribution coarse_block() const;
  Distribution coarse_random() const;
  // Coarse grain with the given parts, [mode][slice].
  Distribution coarse_listed(std::vector<std::vector<int>> parts) const;
  // The rule is even, greedy, balanced or file.
  Distribution medium(const GridShape& grid, const LayerPolicy& policy, RowRule rule = RowRule::even) const;
  // Fine grain with contiguous slices of the mode that has the most of them, or with random nonzeros.
  Distribution fine_block() const;
  Distribution fine_random() const;
  // Fine grain with the given parts, [nonzero of the share]. Duplicates go to the part of the first one.
  Distribution fine_listed(std::vector<int> parts) const;

  // The owners that RowRule::file means from now on: [mode].
  void set_listed_owners(std::vector<RowOwners> rows) { listed_owners_ = std::move(rows); }
  // The same distribution of nonzeros, in fine grain, with owners of rows by another rule.
  Distribution with_owners(Distribution distribution, RowRule rule) const;

 private:
  Distribution with(Scheme scheme, std::string partition) const;
  RowBlocks blocks(int mode, std::span<const Index> row_cuts, std::vector<int> parts) const;
  RowBlocks equal_nonzeros(int mode) const;
  RowOwners owned_rows(const GridShape& grid, int mode, const LayerCuts& layers) const;

  Comm comm_;
  const SparseTensor<double>& share_;
  int num_parts_;
  std::uint64_t seed_;
  std::vector<SliceProfile> profiles_;
  std::vector<RowOwners> listed_owners_;
};

}  // namespace polyad
