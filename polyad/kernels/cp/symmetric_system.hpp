#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "polyad/base/array.hpp"
#include "polyad/base/matrix.hpp"
#include "polyad/kernels/block.hpp"

namespace polyad::kernels {

// The inner product of two vectors, summed in a fixed order.
template <class Real>
[[gnu::always_inline]] inline Real dot_product(const Real* a, const Real* b, Index n) {
  constexpr int lanes = vector_lanes<Real>, width = 4 * lanes;
  using B = Block<Real, width>;
  using Lane = Block<Real, lanes>;
  B sums;
  Lane rest;
  Index r = 0;
  for (; r + width <= n; r += width) sums.add_product(B::load(a + r), B::load(b + r));
  for (; r + lanes <= n; r += lanes) rest.add_product(Lane::load(a + r), Lane::load(b + r));
  Real sum = sums.sum() + rest.sum();
  for (; r < n; ++r) sum += a[r] * b[r];
  return sum;
}

// to[r] = the inner product of row r and x, of `n` entries, which is a multiple of the lanes.
template <int Rows, class Real>
[[gnu::always_inline]] inline void dot_products(const Real* rows, Index stride, const Real* x, Index n,
                                                Real* to) {
  using Lane = Block<Real, vector_lanes<Real>>;
  Lane sums[Rows];
  for (Index j = 0; j < n; j += vector_lanes<Real>) {
    const auto of_x = Lane::load(x + j);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) sums[r].add_product(Lane::load(rows + r * stride + j), of_x);
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) to[r] = sums[r].sum();
}

// to = x * from.
template <class Real>
[[gnu::always_inline]] inline void copy_scaled(Real* __restrict to, Real x, const Real* __restrict from,
                                               Index n) {
  constexpr int lanes = vector_lanes<Real>;
  const auto copy = [&](Index r, auto width) {
    auto row = Block<Real, width>::load(from + r);
    row.scale(x);
    row.store(to + r);
  };
  Index r = 0;
  for (; r + 4 * lanes <= n; r += 4 * lanes) copy(r, std::integral_constant<int, 4 * lanes>{});
  for (; r + lanes <= n; r += lanes) copy(r, std::integral_constant<int, lanes>{});
  for (; r < n; ++r) to[r] = x * from[r];
}

// to += the sum of x_k h_k over `count` rows h_k of `stride` entries, which is a multiple of the lanes.
template <class Real>
void add_multiples(Real* to, const Real* x, const Real* rows, Index count, Index stride) {
  constexpr int lanes = vector_lanes<Real>;
  const auto add_at = [&](Index j, auto width) {
    using B = Block<Real, width>;
    auto sum = B::load(to + j);
    B of_odd_rows;
    for (Index k = 0; k + 1 < count; k += 2) {
      sum.add_scaled(x[k], B::load(rows + k * stride + j));
      of_odd_rows.add_scaled(x[k + 1], B::load(rows + (k + 1) * stride + j));
    }
    if (count % 2 == 1) sum.add_scaled(x[count - 1], B::load(rows + (count - 1) * stride + j));
    sum += of_odd_rows;
    sum.store(to + j);
  };
  Index j = 0;
  for (; j + 4 * lanes <= stride; j += 4 * lanes) add_at(j, std::integral_constant<int, 4 * lanes>{});
  for (; j + 2 * lanes <= stride; j += 2 * lanes) add_at(j, std::integral_constant<int, 2 * lanes>{});
  for (; j < stride; j += lanes) add_at(j, std::integral_constant<int, lanes>{});
}

// A register tile of a system has `height` rows and up to `widest` vectors of columns. Its sums hide each
// other's latency, and fit into the registers with the operands, which x86-64 can take from memory.
struct SystemTile {
#if defined(__aarch64__)
  static constexpr int height = 8, widest = 2;
#elif defined(__AVX512F__)
  static constexpr int height = 8, widest = 3;
#else
  static constexpr int height = 4, widest = 3;
#endif
};

// A symmetric positive definite system of moderate size, which may have a border: one more unknown. Sums of
// outer products, and the solution by Cholesky factorisation, both in register tiles. Of the matrix, the
// upper triangle is stored row by row; the border and the right-hand side are vectors. One per thread.
template <class Real>
class SymmetricSystem {
  static constexpr int lanes = vector_lanes<Real>;
  static constexpr int height = SystemTile::height, widest = SystemTile::widest;
  static constexpr int low_height = 4;  // of the last rows, if no more are left
  static constexpr Index granularity = std::max(lanes, low_height);

 public:
  explicit SymmetricSystem(Index num_unknowns)
      : n_(num_unknowns),
        stride_(stride_for(num_unknowns)),
        matrix_(std::size_t(stride_ * stride_), Real{}),
        right_(std::size_t(stride_), Real{}),
        border_(std::size_t(stride_), Real{}),
        diagonal_(std::size_t(stride_), Real{}),
        scales_(std::size_t(stride_), Real{}),
        multiples_(std::size_t(stride_ * height), Real{}) {}

  static Index stride_for(Index num_unknowns) {
    return (num_unknowns + granularity - 1) / granularity * granularity;
  }
  // Without that of the border.
  Index num_unknowns() const { return n_; }
  // Of rows that are added; padding must be zero.
  Index stride() const { return stride_; }
  Real* right() { return right_.data(); }
  Real* border() { return border_.data(); }
  // The corner of the matrix, and the right-hand side, of the unknown in the border.
  Real& corner() { return corner_; }
  Real& border_right() { return border_right_; }
  Real& at(Index i, Index j) { return matrix_[std::min(i, j) * stride_ + std::max(i, j)]; }

  // Fills the lower triangle too. A row is whole after that, until the system is solved or cleared.
  void mirror() {
    for (Index i = 0; i < n_; ++i)
      for (Index j = 0; j < i; ++j) row(i)[j] = row(j)[i];
  }
  const Real* full_row(Index i) const { return matrix_.data() + i * stride_; }

  void clear() {
    clear_matrix();
    clear_sides();
  }
  void clear_matrix() { std::ranges::fill(matrix_, Real{}); }
  // Starts from a matrix, of which the upper triangle is used.
  void start_from(std::span<const Real> matrix) {
    for_row_tiles([&](Index first, auto rows_of_tile) {
      const Index begin = first / lanes * lanes;  // of the columns that tiles have
      for (Index i = first; i < first + rows_of_tile; ++i)
        std::copy_n(matrix.data() + i * stride_ + begin, stride_ - begin, row(i) + begin);
    });
    clear_sides();
  }

  // matrix += or -= the sum of h_k^T h_k over `count` rows. On the way, while there is arithmetic to wait for
  // memory behind, soon(i, k) is called for every row k, at a component i of every cache line of it; where a
  // line is cut off by the end of the row, for some rows only.
  template <class Soon>
  void add_products(const Real* rows, Index count, bool subtracts, Soon soon) {
    for_row_tiles([&](Index i, auto rows_of_tile) {
      if (subtracts)
        add_row_of_tiles<rows_of_tile, false>(rows, count, i, soon);
      else
        add_row_of_tiles<rows_of_tile, true>(rows, count, i, soon);
    });
  }
  void add_products(const Real* rows, Index count, bool subtracts) {
    add_products(rows, count, subtracts, Nothing());
  }
  // Factorises the matrix, which is destroyed, and solves for the right-hand side, in place. The unknown of
  // the border goes to border_right(). False: the matrix is not positive definite in this precision.
  bool solve(bool has_border) {
    if (!factorise(has_border)) return false;
    if (has_border) {
      const Real pivot = corner_ - dot_product(border_.data(), border_.data(), n_);
      if (!is_pivot(pivot, corner_)) return false;
      border_right_ = (border_right_ - dot_product(border_.data(), right_.data(), n_)) / pivot;
      for (Index i = 0; i < n_; ++i) right_[i] -= border_right_ * border_[i];
    }
    solve_upper();
    return true;
  }

 private:
  using Low = std::integral_constant<int, low_height>;
  using High = std::integral_constant<int, height>;
  using Lane = Block<Real, lanes>;
  struct Nothing {
    void operator()(Index, Index) const {}
  };

  Real* row(Index i) { return matrix_.data() + i * stride_; }
  void clear_sides() {
    std::ranges::fill(right_, Real{});
    std::ranges::fill(border_, Real{});
    corner_ = border_right_ = Real{};
  }

  // fn(first row, number of rows as a constant) for rows of tiles that cover the matrix.
  template <class Fn>
  [[gnu::always_inline]] void for_row_tiles(Fn fn) {
    Index i = 0;
    for (; n_ - i > low_height || (height == low_height && i < n_); i += height) fn(i, High{});
    if (i < n_) fn(i, Low{});
  }

  // matrix += (or -=) products of h_k[i to i + Rows) and h_k, in columns from i on. Tiles of one vector,
  // which have few sums, are the last resort.
  template <int Rows, bool Adds, class Soon = Nothing>
  [[gnu::always_inline]] void add_row_of_tiles(const Real* h, Index count, Index i, Soon soon = {}) {
    Index j = i / lanes * lanes;
    if constexpr (widest == 3)
      for (Index left = (stride_ - j) / lanes; left == 3 || left > 4; left -= 3, j += 3 * lanes)
        add_tile<Rows, 3, Adds>(h, count, i, j, soon);
    for (; j + 2 * lanes <= stride_; j += 2 * lanes) add_tile<Rows, 2, Adds>(h, count, i, j, soon);
    if (j < stride_) add_tile<Rows, 1, Adds>(h, count, i, j, soon);
  }
  // sum[r] += of_row[r] * columns. ARM64 multiplies by a component of a register, x86-64 by one in memory.
  template <int Rows, class B, int... R>
  [[gnu::always_inline]] static void add_multiples_to(B* sum, const Real* of_row, const B& columns,
                                                      std::integer_sequence<int, R...>) {
#if defined(__aarch64__)
    const auto multiples = Block<Real, Rows>::load(of_row);
    (sum[R].add_scaled(multiples.template component<R>(), columns), ...);
#else
    (sum[R].add_scaled(of_row[R], columns), ...);
#endif
  }
  template <int Rows, int Vectors, bool Adds, class Soon>
  void add_tile(const Real* h, Index count, Index i, Index j, Soon soon) {
    constexpr Index tiles_per_line = std::max<Index>(64 / (Rows * sizeof(Real)), 1);
    const bool is_first = j <= i;  // of its row
    using B = Block<Real, Vectors * lanes>;
    B sum[Rows];
    const Real *of_row = h + i, *of_column = h + j;
    for (Index k = 0; k < count; ++k, of_row += stride_, of_column += stride_) {
      if (is_first && k % tiles_per_line == i / Rows % tiles_per_line) soon(i, k);
      const auto columns = B::load(of_column);
      add_multiples_to<Rows>(sum, of_row, columns, std::make_integer_sequence<int, Rows>());
    }
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      Real* to = row(i + r) + j;
      auto total = B::load(to);
      total.add_scaled(Adds ? Real(1) : Real(-1), sum[r]);
      total.store(to);
    }
  }
  static bool is_pivot(Real pivot, Real diagonal) {
    constexpr Real rounding = 8 * std::numeric_limits<Real>::epsilon();
    return pivot > rounding * diagonal && std::isfinite(pivot);
  }

  // Cholesky: matrix = U^T U, a row of tiles after the other, each of which first subtracts the products of
  // all rows above. The right-hand side and the border become the solutions x of U^T x = b on the way.
  bool factorise(bool has_border) {
    for (Index k = 0; k < n_; ++k) diagonal_[k] = row(k)[k];
    bool is_definite = true;
    for_row_tiles([&](Index i, auto rows_of_tile) {
      if (!is_definite) return;
      add_row_of_tiles<rows_of_tile, false>(matrix_.data(), i, i);
      is_definite = factorise_square<rows_of_tile>(i);
      if (is_definite) factorise_rows<rows_of_tile>(i, has_border);
    });
    return is_definite;
  }
  // The first column of the vectors that reach to the right of a row of tiles: they may have columns of its
  // square, but none to the left of it. There are none to the right of the last one, which may be low.
  template <int Rows>
  Index right_of(Index i) const {
    return i + Rows < n_ ? (i + Rows) / lanes * lanes : stride_;
  }
  // The square on the diagonal: row k of it, before it is scaled by the root of its pivot, is added
  // multiples_(k, l) times to row l. A division is all that a pivot waits for.
  template <int Rows>
  bool factorise_square(Index i) {
    Real u[Rows][Rows];
#pragma GCC unroll 8
    for (int k = 0; k < Rows; ++k)
#pragma GCC unroll 8
      for (int c = k; c < Rows; ++c) u[k][c] = row(i + k)[i + c];
    for (Index k = n_ - i; k < Rows; ++k) u[k][k] = 1;  // no equation
    bool is_definite = true;
    Real* multiples = multiples_.data() + i * height;
#pragma GCC unroll 8
    for (int k = 0; k < Rows; ++k) {
      const Real inverse = -1 / u[k][k];
      is_definite = is_definite && is_pivot(u[k][k], diagonal_[i + k]) && std::isfinite(inverse);
      scales_[i + k] = -inverse;
#pragma GCC unroll 8
      for (int l = k + 1; l < Rows; ++l) {
        const Real multiple = u[k][l] * inverse;
        multiples[k * height + l] = multiple;
#pragma GCC unroll 8
        for (int c = l; c < Rows; ++c) u[l][c] += multiple * u[k][c];
      }
    }
    for (int k = 0; k < Rows; ++k) scales_[i + k] = std::sqrt(scales_[i + k]);
    return is_definite;
  }
  // Vectors of columns to the right of the square.
  template <int Rows>
  void factorise_rows(Index i, bool has_border) {
    const Real *multiples = multiples_.data() + i * height, *scales = scales_.data() + i;
    Real x[2][Rows], of_rows[2][Rows];
    Real* const sides[2] = {right_.data(), border_.data()};
    for (int s = 0; s <= int(has_border); ++s) {
#pragma GCC unroll 8
      for (int k = 0; k < Rows; ++k) x[s][k] = sides[s][i + k];
#pragma GCC unroll 8
      for (int k = 0; k < Rows; ++k) {
        of_rows[s][k] = -x[s][k] * scales[k] * scales[k];
#pragma GCC unroll 8
        for (int l = k + 1; l < Rows; ++l) x[s][l] += multiples[k * height + l] * x[s][k];
        x[s][k] *= scales[k];
      }
    }
    for (Index j = right_of<Rows>(i); j < stride_; j += lanes) {
      Lane v[Rows];
#pragma GCC unroll 8
      for (int k = 0; k < Rows; ++k) v[k] = Lane::load(row(i + k) + j);
#pragma GCC unroll 8
      for (int k = 0; k < Rows; ++k)
#pragma GCC unroll 8
        for (int l = k + 1; l < Rows; ++l) v[l].add_scaled(multiples[k * height + l], v[k]);
      for (int s = 0; s <= int(has_border); ++s) {
        auto side = Lane::load(sides[s] + j);
#pragma GCC unroll 8
        for (int k = 0; k < Rows; ++k) side.add_scaled(of_rows[s][k], v[k]);
        side.store(sides[s] + j);
      }
#pragma GCC unroll 8
      for (int k = 0; k < Rows; ++k) {
        v[k].scale(scales[k]);
        v[k].store(row(i + k) + j);
      }
    }
    for (int s = 0; s <= int(has_border); ++s) std::copy_n(x[s], Rows, sides[s] + i);
  }

  // U x = right_, in place, from the last row of tiles to the first.
  void solve_upper() {
    Index i = 0, low = 0;
    for_row_tiles([&](Index first, auto rows_of_tile) {
      i = first;
      low = rows_of_tile;
    });
    if (low == low_height) {
      solve_upper_rows<low_height>(i);
      i -= height;
    }
    for (; i >= 0; i -= height) solve_upper_rows<height>(i);
  }
  template <int Rows>
  void solve_upper_rows(Index i) {
    const Real* multiples = multiples_.data() + i * height;
    Real x[Rows], sums[Rows];
    std::copy_n(right_.data() + i, Rows, x);
    std::fill_n(right_.data() + i, Rows, Real{});  // columns of the square do not count
    const Index begin = right_of<Rows>(i);
    dot_products<Rows>(matrix_.data() + i * stride_ + begin, stride_, right_.data() + begin, stride_ - begin,
                       sums);
#pragma GCC unroll 8
    for (int k = 0; k < Rows; ++k) x[k] = (x[k] - sums[k]) * scales_[i + k];
#pragma GCC unroll 8
    for (int l = Rows - 1; l > 0; --l)
#pragma GCC unroll 8
      for (int k = 0; k < l; ++k) x[k] += multiples[k * height + l] * x[l];
    std::copy_n(x, Rows, right_.data() + i);
  }

  Index n_, stride_;
  Array<Real> matrix_, right_, border_;
  Real corner_{}, border_right_{};
  Array<Real> diagonal_;   // before the factorisation
  Array<Real> scales_;     // the reciprocal diagonal of U
  Array<Real> multiples_;  // [row][column of the square]: -U(k, l) / U(k, k)
};

}  // namespace polyad::kernels
