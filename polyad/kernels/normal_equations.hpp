#pragma once

#include <limits>
#include <span>

#include "polyad/base/matrix.hpp"

namespace polyad {

// The small dense algebra of an iteration: matrices of num_components x num_components, in double.

// The Hadamard product of the Gram matrices of all modes but one (-1: of all).
Matrix<double> hadamard_except(std::span<const Matrix<double>> grams, int mode);

// The pseudo-inverse of a symmetric positive semidefinite matrix: by Cholesky where it is numerically
// definite, else by eigenvalues, the negligible ones dropped. A zero row and column stay zero. The matrix
// is scaled to a unit diagonal first, so that components of very different size do no harm. What is
// negligible follows from the precision of what the inverse will be multiplied with: below its rounding
// error, directions of v hold nothing but noise, which their inverse would amplify.
Matrix<double> pseudo_inverse(const Matrix<double>& v,
                              double epsilon = std::numeric_limits<double>::epsilon());

// Sum of all entries: the squared norm of a Kruskal tensor of unit weights, from the product of its Grams.
double sum_of_entries(const Matrix<double>& matrix);

}  // namespace polyad
