#pragma once

#include <span>
#include <vector>

#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// Coordinates as they are, with lists of the nonzeros of each row, so that threads can own rows in every
// mode.
template <class Real>
struct CooTensor {
  struct RowLists {
    Array<Index> first;          // [row]: where its list begins; one entry more than rows
    Array<LocalIndex> nonzeros;  // row after row, ascending; empty: the nonzeros are in this order
  };

  SparseTensor<Real, LocalIndex> tensor;
  std::vector<RowLists> rows;  // [mode]

  int order() const { return tensor.order(); }
  Index bytes() const;
};

// Throws Error{resource} beyond 2^32 - 1 nonzeros.
template <class Real>
CooTensor<Real> build_coo(SparseTensor<Real, LocalIndex> x);

// What the format takes in memory.
Index coo_bytes(std::span<const Index> extents, Index num_nonzeros, Index value_bytes);

}  // namespace polyad
