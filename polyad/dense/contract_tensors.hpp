#pragma once

#include <string>
#include <utility>

#include "polyad/dense/choose_contraction.hpp"
#include "polyad/dense/redistribute.hpp"

namespace polyad::dense {

// C += A B as the plan says, with its blocks. The tensors are distributed as the plan's problem has them.
// Collective.
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

// What can be written to can also be read.
template <class Real>
struct IndexedResult : IndexedInput<Real> {
  DenseTensor<Real>& result;

  void operator+=(const IndexedProduct<Real>& product) const;
};

// What it says, with the distributions that the tensors have. Throws Error{bad_option} when extents disagree,
// and when the result is one of the inputs.
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
