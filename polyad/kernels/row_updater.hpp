#pragma once

#include <algorithm>
#include <type_traits>

#include "polyad/base/array.hpp"
#include "polyad/base/matrix.hpp"
#include "polyad/kernels/block.hpp"

namespace polyad {

// n rounded up to what the blocks of a RowUpdater need.
template <class Real, int Width>
struct UpdaterShape {
  static constexpr int power = Width & -Width;  // the largest that divides Width
  static constexpr int tile = Width > 0 ? std::min(power, 4 * vector_lanes<Real>)
                                        : 2 * std::max(vector_lanes<Real>, 4);
  static constexpr int gram_tile = Width > 0 ? std::min(power, 4 * vector_lanes<double>) : tile;
  static Index padded(Index n) { return Width > 0 ? Width : (n + tile - 1) / tile * tile; }
};

// The inverse that rows are multiplied with, padded with zeros.
template <class Real, int Width>
Array<Real> padded_inverse(const Matrix<double>& inverse) {
  const Index n = inverse.num_rows(), stride = UpdaterShape<Real, Width>::padded(n);
  Array<Real> result(std::size_t(stride * stride), Real{});
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) result[i * stride + j] = Real(inverse(i, j));
  return result;
}

// Turns rows m of an MTTKRP into rows a = m V^-1 of the factor, and gathers on the way what the iteration
// needs of the new rows: their Gram matrix and the inner product of M and A, in double. So a row is
// touched once, while it is in the nearest cache. One object per part of the rows.
template <class Real, int Width>
class RowUpdater {
  using Shape = UpdaterShape<Real, Width>;

 public:
  static constexpr int batch = 4;        // rows that are multiplied together
  static constexpr int gram_batch = 32;  // rows whose Gram matrix is added at once

  RowUpdater(const Array<Real>& inverse, Matrix<Real>& factor)
      : n_(factor.num_cols()),
        stride_(Shape::padded(n_)),
        inverse_(inverse.data()),
        factor_(factor.flat().data()),
        m_(std::size_t(batch * stride_), Real{}),
        a_(std::size_t(batch * stride_), Real{}),
        rows_(std::size_t((gram_batch + batch) * stride_), 0.0),
        gram_(std::size_t(stride_ * stride_), 0.0),
        inner_(std::size_t(stride_), 0.0) {}

  // Where the b-th row of the batch is to be put; its padding must stay zero.
  Real* m(int b) { return m_.data() + b * stride(); }
  // The solved row, valid until the next solve().
  const Real* a(int b) const { return a_.data() + b * stride(); }

  // Solves the first `count` rows of the batch, which belong to the given rows of the factor.
  void solve(int count, const Index* rows) {
    if (count == batch)
      multiply<batch>(0);
    else
      for (int b = 0; b < count; ++b) multiply<1>(b);
    for (int b = 0; b < count; ++b) keep(m(b), a(b), factor_ + rows[b] * n());
    if (num_rows_ >= gram_batch) flush();
  }

  // Solves a row without counting it: for a row that another part counts.
  const Real* solve_only() {
    multiply<1>(0);
    return a(0);
  }

  // Adds what this part has seen to the sums.
  void add_to(Matrix<double>& gram, double& inner) {
    flush();
    for (Index i = 0; i < n(); ++i)
      for (Index j = i; j < n(); ++j) {
        gram(i, j) += gram_[i * stride_ + j];
        gram(j, i) = gram(i, j);
      }
    for (const double component : inner_) inner += component;
  }

 private:
  Index n() const { return Width > 0 ? Width : n_; }
  Index stride() const { return Width > 0 ? Width : stride_; }

  // a = m V^-1 for Rows rows from the b-th.
  template <int Rows>
  void multiply(int b) {
    constexpr int tile = Shape::tile;
    const Real* m = m_.data() + b * stride();
    for (Index c = 0; c < stride(); c += tile) {
      Block<Real, tile> sum[Rows];
      for (Index k = 0; k < n(); ++k) {
        const auto row = Block<Real, tile>::load(inverse_ + k * stride() + c);
#pragma GCC unroll 8
        for (int i = 0; i < Rows; ++i) sum[i].add_scaled(m[i * stride() + k], row);
      }
#pragma GCC unroll 8
      for (int i = 0; i < Rows; ++i) sum[i].store(a_.data() + (b + i) * stride() + c);
    }
  }

  // Puts a solved row where it belongs.
  [[gnu::always_inline]] void keep(const Real* m, const Real* a, Real* to) {
    double* row = rows_.data() + num_rows_++ * stride();
    if constexpr (std::is_same_v<Real, double>) {
      constexpr int tile = Shape::gram_tile;
      for (Index c = 0; c < stride(); c += tile) {
        using B = Block<double, tile>;
        const auto solved = B::load(a + c);
        auto sum = B::load(inner_.data() + c);
        sum.add_product(solved, B::load(m + c));
        sum.store(inner_.data() + c);
        solved.store(row + c);
        if constexpr (Width > 0) solved.store(to + c);
      }
    } else {
      for (Index c = 0; c < stride(); ++c) {
        row[c] = double(a[c]);
        inner_[c] += double(m[c]) * double(a[c]);
      }
    }
    if (Width == 0 || !std::is_same_v<Real, double>) std::copy_n(a, n(), to);
  }

  // gram += rows^T rows, tiles of the upper half only.
  void flush() {
    constexpr int tile = Shape::gram_tile, height = 4;
    for (Index i = 0; i < stride(); i += height)
      for (Index j = i / tile * tile; j < stride(); j += tile) {
        Block<double, tile> sum[height];
#pragma GCC unroll 8
        for (int k = 0; k < height; ++k)
          sum[k] = Block<double, tile>::load(gram_.data() + (i + k) * stride() + j);
        for (Index row = 0; row < num_rows_; ++row) {
          const double* x = rows_.data() + row * stride();
          const auto right = Block<double, tile>::load(x + j);
#pragma GCC unroll 8
          for (int k = 0; k < height; ++k) sum[k].add_scaled(x[i + k], right);
        }
#pragma GCC unroll 8
        for (int k = 0; k < height; ++k) sum[k].store(gram_.data() + (i + k) * stride() + j);
      }
    num_rows_ = 0;
  }

  Index n_, stride_;
  const Real* inverse_;
  Real* factor_;
  Array<Real> m_, a_;
  Array<double> rows_, gram_, inner_;
  Index num_rows_ = 0;
};

}  // namespace polyad
