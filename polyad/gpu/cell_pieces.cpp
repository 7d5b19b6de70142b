#include "polyad/gpu/cell_pieces.hpp"

#include <algorithm>

#include "polyad/base/parallel.hpp"
#include "polyad/gpu/cell_passes.hpp"

namespace polyad::gpu {

template <class Real>
PiecesOfTree::PiecesOfTree(const CsfTree<Real>& tree, Index max_cells) {
  for (Index slice = 0; slice < tree.num_nodes(0); ++slice) {
    const Index begin = tree.first_nonzero(0, slice), end = tree.first_nonzero(0, slice + 1);
    const bool is_cut = end - begin > max_cells;
    const auto first = std::int32_t(num_partial);
    for (Index piece = begin; piece < end; piece += max_cells)
      pieces.push_back({piece, std::min(piece + max_cells, end), LocalIndex(slice),
                        is_cut ? std::int32_t(num_partial++) : -1});
    if (is_cut) cut_slices.push_back({LocalIndex(slice), first, std::int32_t(num_partial) - first});
  }
  std::ranges::stable_sort(pieces, std::ranges::greater{},
                           [](const CellPiece& piece) { return piece.end - piece.begin; });
}

template <class Real>
std::vector<LocalIndex> ids_of_cells(const CsfTree<Real>& tree, int level) {
  std::vector<LocalIndex> ids(std::size_t(tree.num_nonzeros()));
  parallel_for(tree.num_nodes(level), [&](Index node) {
    const Index begin = tree.first_nonzero(level, node), end = tree.first_nonzero(level, node + 1);
    std::fill(ids.begin() + begin, ids.begin() + end, tree.ids(level)[node]);
  });
  return ids;
}

Index block_bytes_of_system(Index num_unknowns, Index value_bytes) {
  return SystemShape{int(num_unknowns)}.size_in_block() * value_bytes;
}

// Values, weights and indices of cells, pieces, rows and flags of slices of all modes; partial systems and
// errors of one mode at a time.
Index cell_passes_bytes(std::span<const Index> num_rows, Index num_cells, Index num_columns,
                        Index value_bytes) {
  const SystemShape shape{int(num_columns)};
  const auto order = std::ssize(num_rows);
  const Index cut = num_cells / max_cells_of_piece;
  Index bytes = order * num_cells * (2 * value_bytes + order * Index(sizeof(LocalIndex)));
  Index max_rows = 0;
  for (const Index rows : num_rows) {
    bytes += rows * (num_columns * value_bytes + Index(sizeof(CellPiece) + sizeof(LocalIndex) + 1)) +
             2 * cut * Index(sizeof(CellPiece) + sizeof(CutSlice));
    max_rows = std::max(max_rows, rows);
  }
  bytes += (num_cells / cells_per_block + 1) * Index(sizeof(CellErrorSums));
  return bytes + 2 * max_rows * value_bytes + (2 * cut + 1) * shape.size() * value_bytes;
}

template PiecesOfTree::PiecesOfTree(const CsfTree<float>&, Index);
template PiecesOfTree::PiecesOfTree(const CsfTree<double>&, Index);
template std::vector<LocalIndex> ids_of_cells(const CsfTree<float>&, int);
template std::vector<LocalIndex> ids_of_cells(const CsfTree<double>&, int);

}  // namespace polyad::gpu
