#pragma once

#include <limits>
#include <span>
#include <vector>

#include "polyad/base/matrix.hpp"

namespace polyad::kernels {

// Small dense linear algebra of an iteration: num_components x num_components, in double precision.

// Elementwise product of the Gram matrices of all modes but one (-1: of all).
Matrix<double> hadamard_except(std::span<const Matrix<double>> grams, int mode);

// Pseudo-inverse of a symmetric positive semidefinite matrix: by Cholesky if its condition number
// is at most 1 / sqrt(epsilon), otherwise by eigenvalues without the negligible ones. Zero rows
// and columns remain zero. The matrix is first scaled to a unit diagonal, so that components of
// very different size do no harm. `epsilon` is the precision of what the inverse is multiplied
// with: directions of v below it hold only rounding errors, which the inverse would amplify.
Matrix<double> pseudo_inverse(const Matrix<double>& v,
                              double epsilon = std::numeric_limits<double>::epsilon());

// How a V = m is solved in the least-squares sense for many right-hand sides m, such that |a|_V^2 -
// 2 (a, m), the squared residual up to a constant, does not exceed that of a known a_0, for any V.
struct NormalInverse {
  Matrix<double> inverse;
  // True: a = m inverse. False: V is ill-conditioned, and a = a_0 + (m - a_0 V) inverse, where the
  // inverse is damped for eigenvalues below epsilon^(2/3) of the largest. Directions that V hardly
  // determines keep or slowly leave their values in a_0, which a pseudo-inverse would lose.
  bool is_direct = true;
  // Condition number of V with a unit diagonal, in the 1-norm, or
  // above epsilon^(-2/3) in the 2-norm; infinite if V is singular.
  double condition = 1;
};
NormalInverse invert_normal_matrix(const Matrix<double>& v, double epsilon);

// Eigenvalues, descending, and eigenvectors of a symmetric matrix: column k of `vectors` belongs to
// values[k].
struct SymmetricEigen {
  std::vector<double> values;
  Matrix<double> vectors;
};
SymmetricEigen symmetric_eigen(Matrix<double> a);

// Sum of all entries: the squared norm of a Kruskal tensor of unit weights, from the product of its Grams.
double sum_of_entries(const Matrix<double>& matrix);

}  // namespace polyad::kernels
