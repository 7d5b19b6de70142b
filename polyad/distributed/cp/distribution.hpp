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

// Which part a nonzero belongs to by a distribution: the part of its slice in one mode,
struct OwnedBySlice {
  int mode = 0;
  RowOwners slices;
};
// or the cell of a grid whose layers it lies in,
struct OwnedByCell {
  GridShape grid;
  std::vector<RowOwners> layers;  // [mode]: "parts" are layers
};
// or what a list says of the nonzeros of one's share, in order.
struct OwnedByList {
  std::vector<int> parts;
};
using NonzeroOwners = std::variant<OwnedBySlice, OwnedByCell, OwnedByList>;

// [nonzero of the share]
std::vector<int> owners_of(const NonzeroOwners& owners, const SparseTensor<double>& share);

// Who multiplies which nonzero and who owns which row: a value. From it alone follows what is exchanged.
struct Distribution {
  Scheme scheme = Scheme::fine;
  int num_parts = 1;
  // One for all modes; in coarse grain one per mode, because there a process holds other nonzeros for
  // every mode.
  std::vector<NonzeroOwners> nonzeros;
  std::vector<RowOwners> rows;  // [mode]; empty: by the rule, once it is known who touches what
  RowRule row_rule = RowRule::greedy;
  std::uint64_t seed = 1;
  // [mode]: short, so that every process has all its rows; empty: none is. Not in coarse grain.
  std::vector<bool> is_replicated;

  bool replicates(int mode) const { return !is_replicated.empty() && is_replicated[mode]; }

  // How it came about, for people.
  std::string partition;
  std::optional<GridShape> grid;
  std::optional<LayerPolicy> policy;
};

// The owners of a mode's rows by RowRule::random.
RowOwners random_owners(const Distribution& distribution, int mode, Index extent);

// A distribution of a tensor of which every process has a share, over num_parts parts (as many as there are
// processes, or any number where it is only planned). Collective, as profiles are: [mode].
class Distributor {
 public:
  Distributor(const Comm& comm, const SparseTensor<double>& share, int num_parts, std::uint64_t seed);

  int num_parts() const { return num_parts_; }
  const std::vector<SliceProfile>& profiles() const { return profiles_; }
  std::vector<Index> rows() const;  // [mode]: slices that hold nonzeros

  // Whole slices: contiguous ones with equal nonzeros, or at random.
  Distribution coarse_block() const;
  Distribution coarse_random() const;
  // [mode][slice]
  Distribution coarse_listed(std::vector<std::vector<int>> parts) const;
  Distribution medium(const GridShape& grid, const LayerPolicy& policy) const;
  // Nonzeros: in contiguous slices of the mode that has most of them; at random.
  Distribution fine_block() const;
  Distribution fine_random() const;
  // [nonzero of the share]. A nonzero that occurs twice goes where it occurs first.
  Distribution fine_listed(std::vector<int> parts) const;

 private:
  Distribution with(Scheme scheme, std::string partition) const;
  RowBlocks blocks(int mode, std::span<const Index> row_cuts, std::vector<int> parts) const;
  RowBlocks equal_nonzeros(int mode) const;
  RowOwners owned_rows(const GridShape& grid, int mode, std::span<const Index> layer_cuts) const;

  Comm comm_;
  const SparseTensor<double>& share_;
  int num_parts_;
  std::uint64_t seed_;
  std::vector<SliceProfile> profiles_;
};

}  // namespace polyad
