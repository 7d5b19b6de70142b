#pragma once

#include <span>

#include "polyad/base/matrix.hpp"
#include "polyad/tensor/coo.hpp"
#include "polyad/tensor/hicoo.hpp"

namespace polyad::kernels {

// MTTKRP in formats that store the coordinates of every nonzero; no sums are shared between nonzeros. Threads
// own rows (coo: ranges of equal numbers of nonzeros, whose first and last rows are added up afterwards).
template <class Real>
void coo_mttkrp(const CooTensor<Real>& x, std::span<const Matrix<Real>> factors, int mode, Matrix<Real>& m);
template <class Real>
void hicoo_mttkrp(const HicooTensor<Real>& x, std::span<const Matrix<Real>> factors, int mode,
                  Matrix<Real>& m);

}  // namespace polyad::kernels
