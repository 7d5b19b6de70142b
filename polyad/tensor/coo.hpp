#pragma once

#include <span>
#include <vector>

#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// Coordinates, with lists of the nonzeros of each
// row, so that threads can own rows in every mode.
template <class Real>
struct CooTensor {
  struct RowLists {
    Array<Index> first;          // [row]: start of its list; one more than rows
    Array<LocalIndex> nonzeros;  // row by row, ascending; empty: the nonzeros are in this order
  };

  SparseTensor<Real, LocalIndex> tensor;
  std::vector<RowLists> rows;  // [mode]

  int order() const { return tensor.order(); }
  Index bytes() const;
};

// Throws Error{resource} for more than 2^32 - 1 nonzeros.
template <class Real>
CooTensor<Real> build_coo(SparseTensor<Real, LocalIndex> x);

// Memory of the format, in bytes.
Index coo_bytes(std::span<const Index> extents, Index num_nonzeros, Index value_bytes);

}  // namespace polyad
