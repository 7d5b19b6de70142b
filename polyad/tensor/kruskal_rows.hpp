#pragma once

#include <functional>
#include <span>
#include <vector>

#include "polyad/tensor/kruskal.hpp"

namespace polyad {

// The existing rows in a range of rows of a factor.
template <class Real>
struct RowBlock {
  Array<Index> rows;  // [row of values]: row of the whole factor, ascending
  Matrix<Real> values;
};

// A Kruskal tensor whose rows are provided in blocks, so that no
// process needs a whole factor. Rows of empty slices need not exist.
template <class Real>
struct KruskalRows {
  std::vector<double> weights;
  std::vector<Index> extents;   // [mode]: of the whole
  std::vector<Index> num_rows;  // [mode]: number of existing rows
  // The existing rows of a mode in [begin, end).
  std::function<RowBlock<Real>(int mode, Index begin, Index end)> read;
  // End of a range from `begin` that contains at most `count` existing rows: greater than `begin`,
  // at most the extent. However sparse the existing rows are, few such ranges cover all of them.
  std::function<Index(int mode, Index begin, Index count)> end_of;
  std::vector<std::vector<double>> empty_rows = {};  // [mode]: every row that does not exist; empty: zeros

  int order() const { return int(extents.size()); }
  Index num_components() const { return Index(weights.size()); }
};

// The rows of a model in memory, which must outlive them. global:
// [mode][row of the factor]: row of the whole factor, ascending.
template <class Real>
KruskalRows<Real> rows_in_memory(const Kruskal<Real>& model, std::vector<std::span<const Index>> global,
                                 std::vector<Index> extents);

// The row after `count` of the ascending `rows`, from `begin` on; the extent if there are no more.
Index end_of_stretch(std::span<const Index> rows, Index extent, Index begin, Index count);

// Number of rows of so many components to request at once: a few megabytes.
Index rows_at_once(Index num_components);

// Calls take(block) for all existing rows of a mode, in order and in blocks.
template <class Real>
void for_each_block(const KruskalRows<Real>& model, int mode,
                    const std::function<void(const RowBlock<Real>&)>& take);

// All rows in [first, last), in double precision, from those that exist; `empty_row`: every other row, or
// empty for zeros.
template <class Real>
Matrix<double> full_block(const RowBlock<Real>& block, Index first, Index last,
                          std::span<const double> empty_row);

// Calls take(first, block) for all rows of a mode, in order, in double precision
// and in blocks: block.row(i) is row first + i, that of empty_rows if it does not exist.
template <class Real>
void for_each_full_block(const KruskalRows<Real>& model, int mode,
                         const std::function<void(Index, const Matrix<double>&)>& take);

}  // namespace polyad
