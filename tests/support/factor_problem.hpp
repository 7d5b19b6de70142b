#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/base/random.hpp"
#include "polyad/tensor/compact.hpp"
#include "polyad/tensor/local_tensor.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad::test {

template <class Real>
Matrix<Real> random_matrix(Index rows, Index cols, std::uint64_t seed) {
  Matrix<Real> matrix(rows, cols);
  for (Index k = 0; k < rows * cols; ++k) matrix.flat()[k] = Real(Random(seed, 7).normal(std::uint64_t(k)));
  return matrix;
}

// Nonzeros of size one at random places; a third of them in the first slice of every mode, if `heavy`.
inline SparseTensor<double> tame_tensor(const std::vector<Index>& extents, Index num_nonzeros,
                                        std::uint64_t seed, bool heavy = false) {
  SparseTensor<double> x(extents);
  std::vector<Index> at(extents.size());
  for (Index z = 0; z < num_nonzeros; ++z) {
    for (std::size_t m = 0; m < extents.size(); ++m) {
      at[m] = Index(Random(seed, m).below(std::uint64_t(extents[m]), std::uint64_t(z)));
      if (heavy && Random(seed, 50 + m).uniform(std::uint64_t(z)) < 0.3) at[m] = 0;
    }
    x.append(at, Random(seed, 100).normal(std::uint64_t(z)));
  }
  return x;
}

// A compact tensor and a factor per mode.
template <class Real>
struct FactorProblem {
  FactorProblem(const std::vector<Index>& extents, Index num_nonzeros, Index num_components,
                std::uint64_t seed, bool heavy = false)
      : compacted(compact<Real>(tame_tensor(extents, num_nonzeros, seed, heavy))) {
    for (int m = 0; m < tensor().order(); ++m)
      factors.push_back(random_matrix<Real>(tensor().extent(m), num_components, seed + std::uint64_t(m)));
  }
  const SparseTensor<Real, LocalIndex>& tensor() const { return compacted.tensor; }

  CompactTensor<Real> compacted;
  std::vector<Matrix<Real>> factors;
};

// Every way to hold a tensor that differs in how kernels go about it.
template <class Real>
std::vector<LocalTensor<Real>> all_formats(const SparseTensor<Real, LocalIndex>& x) {
  const auto natural = natural_mode_order(x.order());
  auto reversed = natural;
  std::ranges::reverse(reversed);
  std::vector<std::vector<int>> rooted;
  for (int m = 0; m < x.order(); ++m) {
    rooted.push_back(natural);
    std::ranges::rotate(rooted.back(), rooted.back().begin() + m);
  }
  std::vector<LocalTensor<Real>> formats;
  formats.emplace_back(build_coo(x));
  formats.emplace_back(build_hicoo(x));
  formats.emplace_back(build_csf(x, {natural}));
  formats.emplace_back(build_csf(x, {natural, reversed}));
  formats.emplace_back(build_csf(x, rooted));
  return formats;
}

// The largest difference, relative to the largest entry.
template <class A, class B>
double relative_difference(const Matrix<A>& a, const Matrix<B>& b) {
  double largest = 0, difference = 0;
  for (std::size_t k = 0; k < a.flat().size(); ++k) {
    largest = std::max(largest, std::abs(double(b.flat()[k])));
    difference = std::max(difference, std::abs(double(a.flat()[k]) - double(b.flat()[k])));
  }
  return largest == 0 ? difference : difference / largest;
}

// Small odd shapes: orders 2 to 6, extents of 1, one nonzero, heavy slices; and enough nonzeros of one for
// blocks of HiCOO and several cuts.
struct ProblemShape {
  std::vector<Index> extents;
  Index num_nonzeros;
  bool heavy = false;
};
inline std::vector<ProblemShape> problem_shapes() {
  return {{{1, 1}, 1},
          {{5, 4}, 9},
          {{300, 200}, 2000, true},
          {{1, 1, 1}, 1},
          {{4, 3, 2}, 12},
          {{1, 7, 2}, 9},
          {{400, 300, 500}, 4000, true},
          {{2, 3, 2}, 5000, true},
          {{6, 1, 5, 4}, 40},
          {{150, 20, 130, 300}, 3000, true},
          {{2, 3, 4, 5, 6}, 100},
          {{200, 3, 40, 2, 150}, 800, true},
          {{3, 2, 1, 2, 3, 2}, 30},
          {{700, 600, 500}, 900},  // one nonzero in nearly every fiber
          {{300, 200, 250, 150}, 700}};
}
inline std::vector<Index> component_counts() {
  return {1, 2, 8, 16, 32, 37, 64};
}

}  // namespace polyad::test
