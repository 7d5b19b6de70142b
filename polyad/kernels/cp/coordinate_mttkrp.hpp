#pragma once

#include <span>

#include "polyad/base/matrix.hpp"
#include "polyad/tensor/coo.hpp"
#include "polyad/tensor/hicoo.hpp"

namespace polyad::kernels {

// MTTKRP of the formats that keep the coordinates of every nonzero: no sums are shared between nonzeros.
// Threads own rows (coo: of equal numbers of nonzeros, adding up the rows that they share at the ends).
template <class Real>
void coo_mttkrp(const CooTensor<Real>& x, std::span<const Matrix<Real>> factors, int mode, Matrix<Real>& m);
template <class Real>
void hicoo_mttkrp(const HicooTensor<Real>& x, std::span<const Matrix<Real>> factors, int mode,
                  Matrix<Real>& m);

}  // namespace polyad::kernels
