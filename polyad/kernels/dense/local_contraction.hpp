#pragma once

#include <vector>

#include "polyad/base/types.hpp"

namespace polyad::kernels {

// An array with the first mode fastest, whose modes carry labels: modes with the same label run together. No
// label stands twice in one array.
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

// C += A B, summed over every label that C does not have. Labels of C are in A or in B, or in both (a batch).
// The arrays do not overlap. What is a matrix product as it lies in memory, batched and strided, goes to BLAS
// as it is; else as few elements as possible are permuted first. Small products are made in plain loops.
template <class Real>
void contract(const LabelledArray<Real>& c, const LabelledArray<const Real>& a,
              const LabelledArray<const Real>& b);

// The labels of A and of B in the order, fastest first, in which contract() would lay these arrays for BLAS:
// given in it, they are not copied. What is not to be permuted stays as it is.
struct InputOrders {
  std::vector<int> a, b;
};
InputOrders orders_for_product(const LabelledShape& c, const LabelledShape& a, const LabelledShape& b);

// How many elements contract() copies, and so needs besides the three arrays.
Index contraction_workspace(const LabelledShape& c, const LabelledShape& a, const LabelledShape& b);

}  // namespace polyad::kernels
