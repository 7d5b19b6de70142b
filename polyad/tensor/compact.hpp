#pragma once

#include <functional>
#include <span>
#include <vector>

#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// How the nonempty slices of a mode are numbered as local rows.
struct RowNumbers {
  Array<Index> slices;        // nonempty slices, ascending
  Array<LocalIndex> numbers;  // [as slices]: the local row; empty: 0, 1, ...
  Index num_rows = 0;         // of the mode; there may be rows without nonzeros
};

// Numbers the nonempty slices of every mode 0, 1, ... in ascending order, so that factors need no rows
// for empty slices. Throws Error{resource} if a mode has more nonempty slices than LocalIndex can number.
std::vector<RowNumbers> number_rows(const SparseTensor<double>& x);

// The local rows of indices, all of which must be among the slices.
Array<LocalIndex> number_nonzeros(std::span<const Index> indices, Index extent, const RowNumbers& rows);

// Returns the largest magnitude of all values, given that of the own ones.
using LargestOfAll = std::function<double(double)>;

template <class Real>
struct RenumberedTensor {
  SparseTensor<Real, LocalIndex> tensor;  // sorted, first mode first; distinct coordinates
  Index num_duplicates = 0;               // nonzeros that were added to others
  // By what the values were divided: a power of two, 1 unless their squares would exceed the range of Real.
  double value_scale = 1;
};

// Converts a tensor to local row numbers. Consumes it mode by mode, so that there are never two copies.
template <class Real>
RenumberedTensor<Real> renumber(SparseTensor<double> x, std::span<const RowNumbers> rows,
                                const LargestOfAll& largest_of_all);

// A tensor without its empty slices; the others are numbered in ascending order.
template <class Real>
struct CompactTensor {
  SparseTensor<Real, LocalIndex> tensor;  // sorted, first mode first; distinct coordinates
  std::vector<Array<Index>> rows;         // [mode][local row]: global row
  std::vector<Index> global_extents;
  Index num_duplicates = 0;
  double value_scale = 1;
};
template <class Real>
CompactTensor<Real> compact(SparseTensor<double> x);

// Sum of the squares of all values, independent of the number of threads.
template <class Real>
double squared_norm(std::span<const Real> values);

}  // namespace polyad
