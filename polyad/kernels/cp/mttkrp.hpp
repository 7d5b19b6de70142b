#pragma once

#include <span>

#include "polyad/base/matrix.hpp"
#include "polyad/tensor/local_tensor.hpp"

namespace polyad::kernels {

// m = X_(mode) times the Khatri-Rao product of all other factors: row i of m is the sum over the nonzeros
// of slice i of value times the elementwise product of the rows of the other factors. Uses all threads,
// in any format; the same bits on every run with the same number of threads. Does not communicate.
template <class Real>
void mttkrp(const LocalTensor<Real>& x, std::span<const Matrix<Real>> factors, int mode, Matrix<Real>& m);

namespace ref {

// Directly by the definition, nonzero by nonzero, summed in double precision: the reference for tests.
template <class Real, class Id>
Matrix<double> mttkrp(const SparseTensor<Real, Id>& x, std::span<const Matrix<Real>> factors, int mode);

}  // namespace ref
}  // namespace polyad::kernels
