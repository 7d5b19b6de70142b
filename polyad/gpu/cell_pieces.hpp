#pragma once

#include <vector>

#include "polyad/gpu/cell_kernels.hpp"
#include "polyad/tensor/csf.hpp"

namespace polyad::gpu {

// Cells of a piece: a block of threads sums them in about the time of a factorisation or more, and few
// slices have more.
inline constexpr Index max_cells_of_piece = 4096;

// How the slices of a tree are cut into pieces: the longest come first, so that no block begins late with a
// long one. Depends on the tree only.
struct PiecesOfTree {
  template <class Real>
  explicit PiecesOfTree(const CsfTree<Real>& tree, Index max_cells = max_cells_of_piece);

  std::vector<CellPiece> pieces;
  std::vector<CutSlice> cut_slices;
  Index num_partial = 0;
};

// [cell]: the index at a level.
template <class Real>
std::vector<LocalIndex> ids_of_cells(const CsfTree<Real>& tree, int level);

}  // namespace polyad::gpu
