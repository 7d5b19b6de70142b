#pragma once

#include <limits>
#include <span>

#include "polyad/base/matrix.hpp"

namespace polyad::kernels {

// The small dense algebra of an iteration: matrices of num_components x num_components, in double.

// The Hadamard product of the Gram matrices of all modes but one (-1: of all).
Matrix<double> hadamard_except(std::span<const Matrix<double>> grams, int mode);

// The pseudo-inverse of a symmetric positive semidefinite matrix: by Cholesky where its condition number is
// at most 1 / sqrt(epsilon), else by eigenvalues, the negligible ones dropped. A zero row and column stay
// zero. The matrix is scaled to a unit diagonal first, so that components of very different size do no harm.
// `epsilon` is the precision of what the inverse will be multiplied with: directions of v below it hold
// nothing but rounding errors, which their inverse would amplify.
Matrix<double> pseudo_inverse(const Matrix<double>& v,
                              double epsilon = std::numeric_limits<double>::epsilon());

// How the least squares a V = m are solved for many right-hand sides m, so that |a|_V^2 - 2 (a, m), which is
// the squared residual but for a constant, does not rise above that of a known a_0, whatever V is.
struct NormalInverse {
  Matrix<double> inverse;
  // True: a = m inverse. False: V is ill-conditioned, and a = a_0 + (m - a_0 V) inverse, where the inverse is
  // damped for eigenvalues below epsilon^(2/3) of the largest. In directions in which V tells little, a_0
  // is kept or approached slowly; dropping them, as a pseudo-inverse does, would lose what a_0 has there.
  bool is_direct = true;
  // Of V with a unit diagonal, in the 1-norm, or above epsilon^(-2/3) in the 2-norm; infinite where V is
  // singular.
  double condition = 1;
};
NormalInverse invert_normal_matrix(const Matrix<double>& v, double epsilon);

// Sum of all entries: the squared norm of a Kruskal tensor of unit weights, from the product of its Grams.
double sum_of_entries(const Matrix<double>& matrix);

}  // namespace polyad::kernels
