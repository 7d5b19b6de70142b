#pragma once

#include <span>
#include <vector>

#include "polyad/base/matrix.hpp"

namespace polyad::kernels {

// Rows of the matrices of all modes as one long vector, for methods that move all factors at once. A view,
// which copies for nothing: [mode] the entries of the first rows, those that a process owns. Vectors that
// meet in an operation have the same sizes.
template <class Real>
using FactorVector = std::vector<std::span<Real>>;

template <class Real>
FactorVector<Real> first_rows_of(std::span<Matrix<Real>> matrices, std::span<const Index> num_rows);

// (i, j): the inner product of the i-th of `a` and the j-th of `b`, in double, in one pass over all of them.
// The same bits on every run with the same number of threads.
template <class Real>
Matrix<double> inner_products(const std::vector<FactorVector<Real>>& a,
                              const std::vector<FactorVector<Real>>& b);

template <class Real>
struct ScaledVector {
  double scale;
  FactorVector<Real> vector;
};

// result = the sum of the terms, each entry added up in double. The result may be one of the terms. A scale
// of zero leaves a vector out, whatever it holds.
template <class Real>
void combine(const std::vector<ScaledVector<Real>>& terms, const FactorVector<Real>& result);

}  // namespace polyad::kernels
