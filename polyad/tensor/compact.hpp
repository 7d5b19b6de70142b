#pragma once

#include <span>
#include <vector>

#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// A tensor without its empty slices: what is left of mode m is numbered 0, 1, ... in ascending order, and
// rows[m] says which slices these are. A factor needs no row for the others, which would be zero.
template <class Real>
struct CompactTensor {
  SparseTensor<Real, LocalIndex> tensor;  // sorted, first mode first; every coordinate once
  std::vector<Array<Index>> rows;         // [mode][local row]: global row
  std::vector<Index> global_extents;
  Index num_duplicates = 0;  // nonzeros that were added to others
  // What the values were divided by: a power of two, 1 unless their squares would leave the range of Real.
  double value_scale = 1;
};

// Consumes the tensor, column by column, so that there never are two of it. Throws Error{resource} when a
// mode has more non-empty slices than LocalIndex can number.
template <class Real>
CompactTensor<Real> compact(SparseTensor<double> x);

// Sum of the squares of all values, the same for any number of threads.
template <class Real>
double squared_norm(std::span<const Real> values);

}  // namespace polyad
