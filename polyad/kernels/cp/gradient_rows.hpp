#pragma once

#include "polyad/base/matrix.hpp"

namespace polyad::kernels {

// The gradient of 1/2 |scale X - model|^2 with respect to one factor, from the MTTKRP m of its mode and the
// Hadamard product v of the other modes' Gram matrices: m becomes factor v - scale m, in its first num_rows
// rows. Returns the inner product of factor and scale m, which is that of scale X and the model so far as
// these rows tell. Sums are in double, the same bits on every run with the same number of threads.
template <class Real>
double turn_into_gradient(Matrix<Real>& m, const Matrix<Real>& factor, const Matrix<double>& v, double scale,
                          Index num_rows);

}  // namespace polyad::kernels
