#pragma once

#include "polyad/base/matrix.hpp"
#include "polyad/kernels/cp/row_update.hpp"

namespace polyad::kernels {

// Gradient of 1/2 |scale X - model|^2 with respect to one factor, from the MTTKRP m of its mode and
// the elementwise product v of the other Gram matrices: replaces m by factor v - scale m in these
// rows. Returns the contribution of these rows to the inner product of scale X and the model.
// Sums are in double precision, with the same bits on every run with the same number of threads.
template <class Real>
double turn_into_gradient(Matrix<Real>& m, const Matrix<Real>& factor, const Matrix<double>& v, double scale,
                          const RowRange& rows);

}  // namespace polyad::kernels
