#pragma once

#include <span>

#include "polyad/base/matrix.hpp"
#include "polyad/tensor/local_tensor.hpp"

namespace polyad::kernels {

// m = X_(mode) times the Khatri-Rao product of all factors but the mode-th: row i of m is the sum over the
// nonzeros of slice i of their value times the rows of the other factors, componentwise. By all threads,
// in any format; the same bits on every run with the same number of threads. Local: never communicates.
template <class Real>
void mttkrp(const LocalTensor<Real>& x, std::span<const Matrix<Real>> factors, int mode, Matrix<Real>& m);

namespace ref {

// The definition, nonzero by nonzero, added up in double: what the kernels are measured by.
template <class Real, class Id>
Matrix<double> mttkrp(const SparseTensor<Real, Id>& x, std::span<const Matrix<Real>> factors, int mode);

}  // namespace ref
}  // namespace polyad::kernels
