#pragma once
// Private to the local contraction: how a product of labelled arrays is one of matrices. Letters:
// C(m,n) += A(m,k) B(k,n), each of them a group of labels, for every element of a group of batch labels.

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <vector>

#include "polyad/kernels/dense/block_copy.hpp"
#include "polyad/kernels/dense/local_contraction.hpp"

namespace polyad::kernels::product {

inline constexpr int a = 0, b = 1, c = 2;  // the arrays, in this order
inline constexpr Index absent = -1;

// A label with its stride in each of the three arrays.
struct Loop {
  Index extent = 1;
  std::array<Index, 3> strides{absent, absent, absent};

  bool is_in(int array) const { return strides[array] != absent; }
};
using Loops = std::vector<Loop>;

Index steps_of(const Loops& loops);

// All labels, in the order in which A, B and C first name them.
Loops loops_of(const LabelledShape& shape_a, const LabelledShape& shape_b, const LabelledShape& shape_c);

template <class Wanted>
Loops take_if(const Loops& loops, Wanted wanted) {
  Loops taken;
  std::ranges::copy_if(loops, std::back_inserter(taken), wanted);
  return taken;
}

struct MatrixShape {
  Index leading = 1;
  bool is_transposed = false;
};

// How an array is a matrix with these groups as rows and columns, if it is one.
std::optional<MatrixShape> as_matrix(const Loops& rows, const Loops& cols, int array);

// How a product becomes a matrix product: the groups, each with an order, and which arrays must be permuted.
struct MatrixPlan {
  Loops m, n, k, batch;
  std::array<bool, 3> permutes{false, false, false};

  const Loops& rows(int array) const { return array == b ? k : m; }
  const Loops& cols(int array) const { return array == a ? k : n; }
  Index size(int array) const { return steps_of(rows(array)) * steps_of(cols(array)) * steps_of(batch); }
  // Number of elements that are copied; C is read and written at the end.
  Index copied() const {
    Index sum = 0;
    for (int array = 0; array < 3; ++array)
      if (permutes[array]) sum += (array == c ? 2 : 1) * size(array);
    return sum;
  }
};

// The orders of the groups for which the fewest elements are copied.
MatrixPlan plan_product(const Loops& loops);

// Gives an array new strides: rows and columns, first the group with
// its nearest elements, so that contiguous runs are preserved; then the
// batch. Returns the loops of the copy from the old to the new places.
std::vector<CopyLoop> restride(MatrixPlan& plan, int array);

}  // namespace polyad::kernels::product
