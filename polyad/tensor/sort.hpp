#pragma once

#include <span>
#include <vector>

#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// The mode order 0, 1, ..., order - 1.
std::vector<int> natural_mode_order(int order);

// Sorts the nonzeros by the mode mode_order[0], then mode_order[1], ...: a
// permutation of all modes. Stable, with all threads, independent of their number.
template <class Real, class Id>
void sort_nonzeros(SparseTensor<Real, Id>& x, std::span<const int> mode_order);

// Sums nonzeros with equal coordinates, in their order, and returns the number of duplicates
// removed. The nonzeros must be sorted, by any mode order. Explicit zeros are kept.
template <class Real, class Id>
Index merge_duplicates(SparseTensor<Real, Id>& x);

// Number of nonzeros that merge_duplicates would remove.
template <class Real, class Id>
Index count_duplicates(const SparseTensor<Real, Id>& x);

// Position of a cell among the nonzeros of a tensor that is sorted by the mode order; -1: it is not there.
template <class Real, class Id>
Index find_nonzero(const SparseTensor<Real, Id>& x, std::span<const int> mode_order,
                   std::span<const Index> at);

}  // namespace polyad
