#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad::hypergraph {

// Parts that follow the order of the indices, with numbers of nonzeros that differ by at most
// one: suitable for tensors over space or time, and not found by searches from random starts.
struct Tiling {
  std::string name;
  std::vector<int> parts;  // [nonzero]
};

// Parts of contiguous slices of one mode.
Tiling block_tiling(const SparseTensor<double, LocalIndex>& x, int num_parts, int mode);
// Parts of a grid: contiguous slices of modes[0], within each of them contiguous slices of modes[1], ...
Tiling grid_tiling(const SparseTensor<double, LocalIndex>& x, int num_parts, std::span<const int> modes);
// Recursive halves, each cut along the mode in which this cuts the fewest slices of all modes.
Tiling halving_tiling(const SparseTensor<double, LocalIndex>& x, int num_parts);

// Functions that compute a block tiling for every mode, a grid for every pair
// of modes and for all modes, and halves; one at a time, to save memory.
using MakeTiling = std::function<Tiling()>;
std::vector<MakeTiling> all_tilings(const SparseTensor<double, LocalIndex>& x, int num_parts);

}  // namespace polyad::hypergraph
