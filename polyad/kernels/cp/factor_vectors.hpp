#pragma once

#include <span>
#include <vector>

#include "polyad/base/matrix.hpp"

namespace polyad::kernels {

// The rows of the factors of all modes as one long vector, for methods that
// update all factors at once. A view: [mode] the entries of the first rows,
// those that a process owns. Vectors in one operation must have the same sizes.
template <class Real>
using FactorVector = std::vector<std::span<Real>>;

template <class Real>
FactorVector<Real> first_rows_of(std::span<Matrix<Real>> matrices, std::span<const Index> num_rows);

// (i, j): inner product of the i-th of `a` and the j-th of `b`, in double precision, in
// one pass over all of them. The same bits on every run with the same number of threads.
template <class Real>
Matrix<double> inner_products(const std::vector<FactorVector<Real>>& a,
                              const std::vector<FactorVector<Real>>& b);

template <class Real>
struct ScaledVector {
  double scale;
  FactorVector<Real> vector;
};

// result = sum of the terms, accumulated in double precision. The result
// may be one of the terms. Vectors with a scale of zero are not read.
template <class Real>
void combine(const std::vector<ScaledVector<Real>>& terms, const FactorVector<Real>& result);

}  // namespace polyad::kernels
