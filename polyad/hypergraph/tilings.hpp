#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad::hypergraph {

// Parts that follow the order of the indices, each with as many nonzeros as the others or one more: what
// suits tensors over space or time, and what a search from random starts does not find.
struct Tiling {
  std::string name;
  std::vector<int> parts;  // [nonzero]
};

// Contiguous slices of one mode.
Tiling block_tiling(const SparseTensor<double, LocalIndex>& x, int num_parts, int mode);
// A checkerboard: contiguous slices of modes[0], in each of them contiguous slices of modes[1], ...
Tiling grid_tiling(const SparseTensor<double, LocalIndex>& x, int num_parts, std::span<const int> modes);
// Halves of halves, each cut along the mode in which that cuts the fewest slices of all modes.
Tiling halving_tiling(const SparseTensor<double, LocalIndex>& x, int num_parts);

// A block for every mode, a grid for every pair of modes and for all, and halves: how each is made, because
// all of them at once would take much memory.
using MakeTiling = std::function<Tiling()>;
std::vector<MakeTiling> all_tilings(const SparseTensor<double, LocalIndex>& x, int num_parts);

}  // namespace polyad::hypergraph
