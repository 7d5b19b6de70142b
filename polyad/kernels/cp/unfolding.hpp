#pragma once

#include "polyad/base/matrix.hpp"
#include "polyad/kernels/cp/row_update.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad::kernels {

// A tensor as a matrix X_(mode): a row per index of one mode, a column per combination of the others that has
// nonzeros. Its columns are stored one after the other.
struct Unfolding {
  Index num_rows = 0;
  Array<Index> first;      // [column]: its first nonzero; one more than columns
  Array<LocalIndex> rows;  // [nonzero]
  Array<double> values;    // [nonzero]
};

// Consumes x, whose coordinates need not be distinct.
Unfolding unfold(SparseTensor<double, LocalIndex> x, int mode);

// y = X X^T q, both with num_rows rows. `parts`: for num_rows rows of as many columns. Uses all threads; the
// same bits on every run with the same number of threads. Does not communicate.
void multiply_by_gram(const Unfolding& x, const Matrix<double>& q, PartialRows<double>& parts,
                      Matrix<double>& y);

// a^T b over the first num_rows rows.
Matrix<double> column_products(const Matrix<double>& a, const Matrix<double>& b, Index num_rows);

// The first num_rows rows of a times a square matrix, in place.
void multiply_columns(Matrix<double>& a, const Matrix<double>& square, Index num_rows);

}  // namespace polyad::kernels
