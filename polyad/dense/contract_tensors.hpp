#pragma once

#include <string>
#include <utility>

#include "polyad/dense/choose_contraction.hpp"
#include "polyad/dense/redistribute.hpp"

namespace polyad::dense {

// C += A B according to the plan, with its blocks. The tensors
// must be distributed as in the plan's problem. Collective.
template <class Real>
void contract(DenseTensor<Real>& c, const DenseTensor<Real>& a, const DenseTensor<Real>& b,
              const BlockedContraction& plan, DenseTally& tally);

// So that a contraction reads as it is written:
//   indexed(c, "abji") += indexed(a, "acik") * indexed(b, "bcjk");
// The way is chosen for the distributions that the tensors have. Collective.
template <class Real>
struct IndexedInput {
  const DenseTensor<Real>& tensor;
  std::string indices;
};

template <class Real>
struct IndexedProduct {
  IndexedInput<Real> a, b;
};

template <class Real>
IndexedProduct<Real> operator*(IndexedInput<Real> a, IndexedInput<Real> b) {
  return {std::move(a), std::move(b)};
}

// A result can also be an input.
template <class Real>
struct IndexedResult : IndexedInput<Real> {
  DenseTensor<Real>& result;

  void operator+=(const IndexedProduct<Real>& product) const;
};

// The contraction with the distributions of its tensors. Throws
// Error{bad_option} if extents disagree or the result is one of the inputs.
template <class Real>
ContractionProblem problem_of(const IndexedResult<Real>& c, const IndexedProduct<Real>& product);

template <class Real>
IndexedResult<Real> indexed(DenseTensor<Real>& tensor, std::string indices) {
  return {{tensor, std::move(indices)}, tensor};
}
template <class Real>
IndexedInput<Real> indexed(const DenseTensor<Real>& tensor, std::string indices) {
  return {tensor, std::move(indices)};
}

}  // namespace polyad::dense
