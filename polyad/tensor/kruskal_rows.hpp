#pragma once

#include <functional>
#include <span>
#include <vector>

#include "polyad/tensor/kruskal.hpp"

namespace polyad {

// Rows of a factor that exist, of a stretch of all rows; the others are zero.
template <class Real>
struct RowBlock {
  Array<Index> rows;  // [row of values]: row of the whole, ascending
  Matrix<Real> values;
};

// A Kruskal tensor whose rows are handed out some at a time, so that nobody need hold a whole factor. Rows of
// empty slices need not exist.
template <class Real>
struct KruskalRows {
  std::vector<double> weights;
  std::vector<Index> extents;   // [mode]: of the whole
  std::vector<Index> num_rows;  // [mode]: that exist
  // Those of rows [begin, end) of a mode that exist.
  std::function<RowBlock<Real>(int mode, Index begin, Index end)> read;
  // Where a stretch that begins there may end for `count` rows of it to exist, at most: beyond `begin`, at
  // most the extent. However far apart rows are, few such stretches have all of them.
  std::function<Index(int mode, Index begin, Index count)> end_of;

  int order() const { return int(extents.size()); }
  Index num_components() const { return Index(weights.size()); }
};

// Of a model in memory, which must outlive them. global: [mode][row of the factor]: row of the whole,
// ascending.
template <class Real>
KruskalRows<Real> rows_in_memory(const Kruskal<Real>& model, std::vector<std::span<const Index>> global,
                                 std::vector<Index> extents);

// The row behind `count` of these, which are ascending, from `begin` on; the extent where there are no more.
Index end_of_stretch(std::span<const Index> rows, Index extent, Index begin, Index count);

// How many rows of so many components are worth asking for at once: some megabytes.
Index rows_at_once(Index num_components);

// Calls take(block) for all rows of a mode that exist, in order, some at a time.
template <class Real>
void for_each_block(const KruskalRows<Real>& model, int mode,
                    const std::function<void(const RowBlock<Real>&)>& take);

// Calls take(first, block) for all rows of a mode, in order, in double, some at a time: block.row(i) is that
// of row first + i, zero where it does not exist.
template <class Real>
void for_each_full_block(const KruskalRows<Real>& model, int mode,
                         const std::function<void(Index, const Matrix<double>&)>& take);

}  // namespace polyad
