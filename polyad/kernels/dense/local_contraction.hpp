#pragma once

#include <vector>

#include "polyad/base/types.hpp"

namespace polyad::kernels {

// An array whose first mode varies fastest and whose modes have labels: modes
// with the same label have the same index. Labels of one array are distinct.
struct LabelledShape {
  std::vector<Index> extents;
  std::vector<int> labels;
};

// The same array with its modes in another order, the fastest first.
LabelledShape reordered(const LabelledShape& shape, const std::vector<int>& modes);

template <class Real>
struct LabelledArray {
  Real* elements = nullptr;
  LabelledShape shape;
};

// C += A B, summed over every label that C does not have. Labels of C are in A or in B, or in both (a
// batch). The arrays must not overlap. Products that are batched and strided matrix products in memory go to
// BLAS directly; otherwise as few elements as possible are permuted first. Small products use plain loops.
template <class Real>
void contract(const LabelledArray<Real>& c, const LabelledArray<const Real>& a,
              const LabelledArray<const Real>& b);

// The labels of A and of B in the order, fastest first, in which contract() would permute them for
// BLAS: arrays in this order are not copied. Arrays that need no permutation keep their order.
struct InputOrders {
  std::vector<int> a, b;
};
InputOrders orders_for_product(const LabelledShape& c, const LabelledShape& a, const LabelledShape& b);

// Number of elements that contract() copies, and so needs in addition to the three arrays.
Index contraction_workspace(const LabelledShape& c, const LabelledShape& a, const LabelledShape& b);

}  // namespace polyad::kernels
