#pragma once

#include <functional>
#include <span>
#include <vector>

#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// How the slices of a mode that hold nonzeros become local rows.
struct RowNumbers {
  Array<Index> slices;        // ascending
  Array<LocalIndex> numbers;  // [as slices]: the local row; empty: 0, 1, ...
  Index num_rows = 0;         // of the mode; there may be rows without nonzeros
};

// 0, 1, ... in ascending order, mode by mode: then a factor needs no row for empty slices, which would be
// zero. Throws Error{resource} when a mode has more non-empty slices than LocalIndex can number.
std::vector<RowNumbers> number_rows(const SparseTensor<double>& x);

// The local rows of indices, all of them among the slices.
Array<LocalIndex> number_nonzeros(std::span<const Index> indices, Index extent, const RowNumbers& rows);

// Tells the largest magnitude of all values, from that of one's own.
using LargestOfAll = std::function<double(double)>;

template <class Real>
struct RenumberedTensor {
  SparseTensor<Real, LocalIndex> tensor;  // sorted, first mode first; every coordinate once
  Index num_duplicates = 0;               // nonzeros that were added to others
  // What the values were divided by: a power of two, 1 unless their squares would leave the range of Real.
  double value_scale = 1;
};

// Under local row numbers. Consumes the tensor, column by column, so that there never are two of it.
template <class Real>
RenumberedTensor<Real> renumber(SparseTensor<double> x, std::span<const RowNumbers> rows,
                                const LargestOfAll& largest_of_all);

// A tensor without its empty slices, the others numbered in ascending order.
template <class Real>
struct CompactTensor {
  SparseTensor<Real, LocalIndex> tensor;  // sorted, first mode first; every coordinate once
  std::vector<Array<Index>> rows;         // [mode][local row]: global row
  std::vector<Index> global_extents;
  Index num_duplicates = 0;
  double value_scale = 1;
};
template <class Real>
CompactTensor<Real> compact(SparseTensor<double> x);

// Sum of the squares of all values, the same for any number of threads.
template <class Real>
double squared_norm(std::span<const Real> values);

}  // namespace polyad
