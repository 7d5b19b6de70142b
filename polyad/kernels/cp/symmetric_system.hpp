#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "polyad/base/array.hpp"
#include "polyad/base/matrix.hpp"
#include "polyad/kernels/block.hpp"

namespace polyad::kernels {

// The inner product of two vectors, summed in a fixed order.
template <class Real>
[[gnu::always_inline]] inline Real dot_product(const Real* a, const Real* b, Index n) {
  constexpr int width = 4 * vector_lanes<Real>;
  using B = Block<Real, width>;
  B sums;
  Index r = 0;
  for (; r + width <= n; r += width) sums.add_product(B::load(a + r), B::load(b + r));
  Real sum = sums.sum();
  for (; r < n; ++r) sum += a[r] * b[r];
  return sum;
}

// A symmetric positive definite system of moderate size, of which the upper triangle is stored row by row:
// sums of outer products, and its solution by Cholesky factorisation. Both use the same register tiles. One
// per thread.
template <class Real>
class SymmetricSystem {
  static constexpr int lanes = vector_lanes<Real>;
  // Tiles of 16 vectors, which leaves the other registers for operands.
  static constexpr int height = vector_bytes == 16 ? 4 : 8;
  static constexpr int widest = 16 / height * lanes;

 public:
  explicit SymmetricSystem(Index num_unknowns)
      : n_(num_unknowns),
        stride_((num_unknowns + granularity - 1) / granularity * granularity),
        matrix_(std::size_t(stride_ * stride_), Real{}),
        right_(std::size_t(stride_), Real{}),
        diagonal_(std::size_t(stride_), Real{}),
        pivots_(std::size_t(block * stride_), Real{}) {}

  Index num_unknowns() const { return n_; }
  Index stride() const { return stride_; }  // of rows that are added; padding must be zero
  Real* row(Index i) { return matrix_.data() + i * stride_; }
  Real* right() { return right_.data(); }
  Real& at(Index i, Index j) { return matrix_[std::min(i, j) * stride_ + std::max(i, j)]; }

  void clear() {
    std::ranges::fill(matrix_, Real{});
    std::ranges::fill(right_, Real{});
  }
  // Starts from a matrix, of which the upper triangle is used.
  void start_from(std::span<const Real> matrix) {
    std::ranges::copy(matrix, matrix_.begin());
    std::ranges::fill(right_, Real{});
  }

  // matrix += the sum of left_k^T right_k over `count` rows, where left_k is a multiple of right_k.
  void add_products(const Real* left, const Real* right, Index count) {
    add_products_from(0, left, right, count);
  }

  // Factorises the leading n x n part, which is destroyed, and solves for the right-hand side, in place.
  // False: the matrix is not positive definite in this precision.
  bool solve(Index n) {
    if (!factorise(n)) return false;
    Real* x = right_.data();
    for (Index k = 0; k < n; ++k) {
      x[k] *= row(k)[k];
      add_multiple(x, -x[k], row(k), k + 1, n);
    }
    for (Index k = n - 1; k >= 0; --k) {
      const Real* u = row(k);
      x[k] = (x[k] - dot_product(u + k + 1, x + k + 1, n - k - 1)) * u[k];
    }
    return true;
  }

 private:
  static constexpr Index granularity = std::max(lanes, height);
  static constexpr Real rounding = 8 * std::numeric_limits<Real>::epsilon();
  static constexpr Index block = 8;  // rows that are factorised before the rest is updated

  void add_products_from(Index first, const Real* left, const Real* right, Index count) {
    for (Index i = first; i < stride_; i += height) {
      Index j = i / lanes * lanes;
      for (; j + widest <= stride_; j += widest) add_tile<widest>(left, right, count, i, j);
      if constexpr (widest > 2 * lanes)
        for (; j + 2 * lanes <= stride_; j += 2 * lanes) add_tile<2 * lanes>(left, right, count, i, j);
      for (; j < stride_; j += lanes) add_tile<lanes>(left, right, count, i, j);
    }
  }
  template <int Width>
  [[gnu::always_inline]] void add_tile(const Real* left, const Real* right, Index count, Index i, Index j) {
    using B = Block<Real, Width>;
    B sum[height];
    for (Index k = 0; k < count; ++k) {
      const auto of_right = B::load(right + k * stride_ + j);
      const Real* of_left = left + k * stride_ + i;
#pragma GCC unroll 8
      for (int h = 0; h < height; ++h) sum[h].add_scaled(of_left[h], of_right);
    }
#pragma GCC unroll 8
    for (int h = 0; h < height; ++h) {
      Real* to = row(i + h) + j;
      auto total = B::load(to);
      total += sum[h];
      total.store(to);
    }
  }

  // Cholesky: matrix = U^T U. The diagonal of U is stored as its reciprocal.
  bool factorise(Index n) {
    for (Index k = 0; k < n; ++k) diagonal_[k] = row(k)[k];
    for (Index begin = 0; begin < n; begin += block) {
      const Index end = std::min(begin + block, n);
      if (!factorise_rows(begin, end, n)) return false;
      if (end == n) break;
      for (Index k = begin; k < end; ++k)
        for (Index j = 0; j < stride_; ++j)
          pivots_[(k - begin) * stride_ + j] = j < end ? Real{} : -row(k)[j];
      add_products_from(end / height * height, pivots_.data(), row(begin), end - begin);
    }
    return true;
  }
  bool factorise_rows(Index begin, Index end, Index n) {
    for (Index k = begin; k < end; ++k) {
      const Real pivot = row(k)[k];
      if (!(pivot > rounding * diagonal_[k]) || !std::isfinite(pivot)) return false;
      const Real reciprocal = 1 / std::sqrt(pivot);
      Real* u = row(k);
      for (Index j = k + 1; j < n; ++j) u[j] *= reciprocal;
      u[k] = reciprocal;
      for (Index i = k + 1; i < end; ++i) add_multiple(row(i), -u[i], u, i, n);
    }
    return true;
  }
  static void add_multiple(Real* to, Real x, const Real* from, Index begin, Index end) {
    for (Index j = begin; j < end; ++j) to[j] += x * from[j];
  }

  Index n_, stride_;
  Array<Real> matrix_, right_;
  Array<Real> diagonal_;  // before the factorisation
  Array<Real> pivots_;    // the rows that were factorised last, negated
};

}  // namespace polyad::kernels
