#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/matrix.hpp"
#include "polyad/kernels/block.hpp"
#include "polyad/kernels/cp/nonnegative_descent.hpp"
#include "polyad/kernels/cp/row_update.hpp"

namespace polyad::kernels {

// Block sizes of a RowUpdater, and n rounded up to them.
template <class Real, int Width>
struct UpdaterShape {
  static constexpr int power = Width & -Width;  // the largest that divides Width
  static constexpr int tile = Width > 0 ? std::min(power, 4 * vector_lanes<Real>)
                                        : 2 * std::max(vector_lanes<Real>, 4);
  static constexpr int gram_tile = Width > 0 ? std::min(power, 4 * vector_lanes<double>) : tile;
  static constexpr int gram_height = 4;
  // The narrowest block with eight independent sums, which hides the latency of additions.
  static constexpr int gram_step = std::min(gram_tile, std::max(gram_height, 2 * vector_lanes<double>));
  static Index padded(Index n) { return Width > 0 ? Width : (n + tile - 1) / tile * tile; }
};

// A RowSystem in the precision of the rows, padded with zeros.
template <class Real, int Width>
struct PaddedSystem {
  explicit PaddedSystem(const RowSystem& system)
      : kind(system.kind),
        inverse(padded(system.inverse)),
        v(padded(system.v)),
        start(padded(system.start)),
        scale(padded(system.scale)) {}

  RowSystem::Kind kind;
  Array<Real> inverse, v;
  Array<Real> start, scale;

 private:
  static Array<Real> padded(const Matrix<double>& from) {
    const Index n = from.num_rows(), stride = UpdaterShape<Real, Width>::padded(n);
    Array<Real> result(std::size_t(stride * stride), Real{});
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) result[i * stride + j] = Real(from(i, j));
    return result;
  }
  static Array<Real> padded(const std::vector<double>& from) {
    Array<Real> result(std::size_t(UpdaterShape<Real, Width>::padded(Index(from.size()))), Real{});
    std::ranges::transform(from, result.begin(), [](double x) { return Real(x); });
    return result;
  }
};

// Converts rows m of an MTTKRP to rows a of the factor and accumulates what the iteration needs
// of them: their Gram matrix and the inner product of M and A, in double precision. A row is
// processed once, while it is in the first-level cache. One object per part of the rows.
template <class Real, int Width>
class alignas(64) RowUpdater {
  using Shape = UpdaterShape<Real, Width>;
  using Kind = RowSystem::Kind;

 public:
  static constexpr int batch = 4;        // rows that are multiplied together
  static constexpr int gram_batch = 32;  // rows whose Gram matrix is added at once

  RowUpdater(const PaddedSystem<Real, Width>& system, Matrix<Real>& factor)
      : n_(factor.num_cols()),
        stride_(Shape::padded(n_)),
        system_(&system),
        factor_(factor.flat().data()),
        past_caches_(factor.flat().size_bytes() >= past_caches::min_bytes),
        m_(std::size_t(batch * stride_), Real{}),
        a_(std::size_t((gram_batch + batch) * stride_), Real{}),
        rest_(std::size_t(stride_), Real{}),
        gram_(std::size_t(stride_ * stride_), 0.0),
        inner_(std::size_t(stride_), 0.0) {}

  // Where the caller writes row b of the batch; its padding must remain zero.
  Real* m(int b) { return m_.data() + b * stride(); }
  // The solved row, valid until the next solve().
  const Real* a(int b) const { return a_.data() + (batch_begin_ + b) * stride(); }

  // Initial value for row b, if the system needs one: the current row of the factor.
  void start_from(int b, const Real* old) {
    if (system_->kind == Kind::solve) return;
    Real* a = new_row(b);
    for (Index c = 0; c < n(); ++c) a[c] = old[c] * system_->start[c];
  }

  // Solves the first `count` rows of the batch, which belong to the given rows of the factor.
  [[gnu::noinline]] void solve(int count, const Index* rows) {
    if (system_->kind != Kind::solve)
      for (int b = 0; b < count; ++b) improve(m(b), new_row(b));
    else if (count == batch)
      multiply<batch>(0);
    else
      for (int b = 0; b < count; ++b) multiply<1>(b);
    keep(count, rows);
    batch_begin_ = std::exchange(num_rows_, num_rows_ + count);
    if (num_rows_ >= gram_batch) flush();
  }

  // Solves a row without adding it to the sums, because another part does.
  [[gnu::noinline]] const Real* solve_only() {
    if (system_->kind != Kind::solve)
      improve(m(0), new_row(0));
    else
      multiply<1>(0);
    return new_row(0);
  }

  // Must be called by the thread that solved rows before other threads read them.
  void settle() const {
    if (past_caches_) past_caches::settle();
  }

  // Adds the sums of this part.
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
  // Where row b of the batch is solved.
  Real* new_row(int b) { return a_.data() + (num_rows_ + b) * stride(); }

  // a = m V^+ for Rows rows from the b-th.
  template <int Rows>
  void multiply(int b) {
    constexpr int tile = Shape::tile;
    const Real* m = m_.data() + b * stride();
    Real* a = new_row(b);
    for (Index c = 0; c < stride(); c += tile) {
      Block<Real, tile> sum[Rows];
      for (Index k = 0; k < n(); ++k) {
        const auto row = Block<Real, tile>::load(system_->inverse.data() + k * stride() + c);
#pragma GCC unroll 8
        for (int i = 0; i < Rows; ++i) sum[i].add_scaled(m[i * stride() + k], row);
      }
#pragma GCC unroll 8
      for (int i = 0; i < Rows; ++i) sum[i].store(a + i * stride() + c);
    }
  }

  // Improves a row in place.
  [[gnu::noinline]] void improve(const Real* m, Real* a) {
    if (system_->kind == Kind::correct)
      correct(m, a);
    else
      descend(m, a);
  }

  // a + (m - a V) V^+, scaled.
  void correct(const Real* m, Real* a) {
    Real* rest = rest_.data();
    find_rest(m, a);
    for (Index r = 0; r < n(); ++r) a[r] *= system_->scale[r];
    for (Index r = 0; r < n(); ++r) add_multiple(a, rest[r], system_->inverse, r);
  }

  // Nonnegative least squares.
  void descend(const Real* m, Real* a) {
    for (Index r = 0; r < n(); ++r) a[r] = std::max(a[r], Real{});
    find_rest(m, a);
    descend_nonnegative<Real>(
        n(), a, rest_.data(), usual_descent_end<Real>, [&](Index r) { return system_->v[r * stride() + r]; },
        [&](Real step, Index r) { add_multiple(rest_.data(), -step, system_->v, r); });
    for (Index r = 0; r < n(); ++r) a[r] *= system_->scale[r];
  }

  // rest = m - a V
  void find_rest(const Real* m, const Real* a) {
    std::copy_n(m, stride(), rest_.data());
    for (Index r = 0; r < n(); ++r)
      if (a[r] != 0) add_multiple(rest_.data(), -a[r], system_->v, r);
  }
  // to += x * the r-th row of the matrix
  void add_multiple(Real* to, Real x, const Array<Real>& matrix, Index r) const {
    constexpr int tile = Shape::tile;
    const Real* row = matrix.data() + r * stride();
    for (Index c = 0; c < stride(); c += tile) {
      auto sum = Block<Real, tile>::load(to + c);
      sum.add_scaled(x, Block<Real, tile>::load(row + c));
      sum.store(to + c);
    }
  }

  // Writes solved rows to the factor.
  [[gnu::always_inline]] void keep(int count, const Index* rows) {
    if constexpr (std::is_same_v<Real, double>) {
      constexpr int tile = Width > 0 ? std::min(Shape::power, 8 * vector_lanes<double>) : Shape::tile;
      using B = Block<double, tile>;
      for (Index c = 0; c < stride(); c += tile) {
        auto sum = B::load(inner_.data() + c);
        for (int b = 0; b < count; ++b) {
          const auto solved = B::load(new_row(b) + c);
          sum.add_product(solved, B::load(m(b) + c));
          if constexpr (Width > 0) {
            if (past_caches_)
              solved.store_past_caches(factor_ + rows[b] * Width + c);
            else
              solved.store(factor_ + rows[b] * Width + c);
          }
        }
        sum.store(inner_.data() + c);
      }
    } else {
      for (int b = 0; b < count; ++b)
        for (Index c = 0; c < stride(); ++c) inner_[c] += double(m(b)[c]) * double(new_row(b)[c]);
    }
    if (Width == 0 || !std::is_same_v<Real, double>)
      for (int b = 0; b < count; ++b) std::copy_n(new_row(b), n(), factor_ + rows[b] * n());
  }

  // gram += a^T a, only tiles of the upper triangle.
  void flush() {
    constexpr int tile = Shape::gram_tile, step = Shape::gram_step;
    const double* rows = in_double();
    for (Index i = 0; i < stride(); i += Shape::gram_height) {
      Index j = i / step * step;
      for (; j + tile <= stride(); j += tile) add_gram_tile<tile>(rows, i, j);
      for (; j < stride(); j += step) add_gram_tile<step>(rows, i, j);
    }
    num_rows_ = 0;
  }
  template <int Tile>
  [[gnu::always_inline]] void add_gram_tile(const double* rows, Index i, Index j) {
    constexpr int height = Shape::gram_height;
    Block<double, Tile> sum[height];
#pragma GCC unroll 8
    for (int k = 0; k < height; ++k)
      sum[k] = Block<double, Tile>::load(gram_.data() + (i + k) * stride() + j);
    for (const double* x = rows; x < rows + num_rows_ * stride(); x += stride()) {
      const auto right = Block<double, Tile>::load(x + j);
#pragma GCC unroll 8
      for (int k = 0; k < height; ++k) sum[k].add_scaled(x[i + k], right);
    }
#pragma GCC unroll 8
    for (int k = 0; k < height; ++k) sum[k].store(gram_.data() + (i + k) * stride() + j);
  }
  const double* in_double() {
    if constexpr (std::is_same_v<Real, double>) {
      return a_.data();
    } else {
      rows_.assign(a_.begin(), a_.begin() + num_rows_ * stride());
      return rows_.data();
    }
  }

  Index n_, stride_;
  const PaddedSystem<Real, Width>* system_;
  Real* factor_;
  bool past_caches_;
  Array<Real> m_;
  Array<Real> a_;  // solved rows that are not in the Gram matrix yet, and space for a batch
  Array<Real> rest_;
  Array<double> rows_;  // a_ in double precision, if Real is not double
  Array<double> gram_, inner_;
  Index num_rows_ = 0;     // of a_
  Index batch_begin_ = 0;  // in a_
};

// A system, and an updater for each part of the rows. Its functions are not inlined: one copy of them for all
// that update rows of this width.
template <class Real, int Width>
class PartUpdaters {
 public:
  [[gnu::noinline]] PartUpdaters(const RowSystem& system, Matrix<Real>& factor, std::size_t num_parts)
      : system_(system), updaters_(num_parts, {system_, factor}) {}
  [[gnu::noinline]] ~PartUpdaters() = default;
  PartUpdaters(const PartUpdaters&) = delete;
  PartUpdaters& operator=(const PartUpdaters&) = delete;

  RowUpdater<Real, Width>& operator[](std::size_t part) { return updaters_[part]; }
  const RowUpdater<Real, Width>& operator[](std::size_t part) const { return updaters_[part]; }

  // Adds the sums of all parts, in their order.
  [[gnu::noinline]] void add_to(RowSums& sums) {
    for (auto& updater : updaters_) updater.add_to(sums.gram, sums.inner);
  }

 private:
  PaddedSystem<Real, Width> system_;
  std::vector<RowUpdater<Real, Width>> updaters_;
};

// They are compiled once, in row_update.cpp.
#define POLYAD_DECLARE_UPDATERS(Width)              \
  extern template class RowUpdater<float, Width>;   \
  extern template class RowUpdater<double, Width>;  \
  extern template class PartUpdaters<float, Width>; \
  extern template class PartUpdaters<double, Width>;
POLYAD_FOR_WIDTHS(POLYAD_DECLARE_UPDATERS)
#undef POLYAD_DECLARE_UPDATERS

}  // namespace polyad::kernels
