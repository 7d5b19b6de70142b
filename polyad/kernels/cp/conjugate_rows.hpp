#pragma once

#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "polyad/base/timings.hpp"
#include "polyad/kernels/cp/row_cells.hpp"
#include "polyad/kernels/cp/symmetric_system.hpp"

namespace polyad::kernels {

// Improves the rows of a mode, one after the other, by steps of conjugate gradients from their present values
// (Takacs, Pilaszy and Tikk 2011). A step takes 2 R multiply-adds per cell and R^2 for the background: the
// matrix of the cells is never formed. No step raises the loss, apart from rounding. One per thread.
template <class Real>
class ConjugateRows {
 public:
  ConjugateRows(const RowSystems<Real>& systems, std::span<const Matrix<Real>> factors,
                const BackgroundTerms<Real>& background)
      : systems_(systems),
        cells_(systems),
        walk_(*systems.tree, factors),
        background_(background),
        n_(systems.num_factors),
        has_bias_(factors[0].num_cols() > n_),
        stride_(SymmetricSystem<Real>::stride_for(n_)),
        x_(std::size_t(stride_)),
        residual_(x_),
        direction_(x_),
        image_(x_),
        products_(std::size_t(group * n_), Real{}) {}

  // `to`: the present row of a slice, which is replaced.
  void solve(Index slice, Real* to) {
    const Stopwatch watch;
    const Index row = systems_.tree->ids(0)[slice];
    ridge_ = systems_.ridge[row];
    if (has_bias_) bias_ridge_ = systems_.bias_ridge[row];
    const Index own = n_ + systems_.mode();
    std::copy_n(to, n_, x_.entries.data());
    x_.bias = has_bias_ ? to[own] : Real{};
    set_residual(slice);
    descend(slice);
    std::copy_n(x_.entries.data(), n_, to);
    if (has_bias_) to[own] = x_.bias;
    seconds_.factorise += watch.seconds();
  }
  const RowSeconds& seconds() const { return seconds_; }

 private:
  static constexpr int lanes = vector_lanes<Real>, group = 4;  // cells at a time
  static constexpr int half_lanes = lanes / 2;                 // for columns that fill no two vectors

  // Of the unknowns: factors, padded with zeros, and the bias, which stays zero where there is none.
  struct Unknowns {
    explicit Unknowns(std::size_t size) : entries(size, Real{}) {}

    Array<Real> entries;
    Real bias{};

    void add(Real x, const Unknowns& other) {
      for (std::size_t i = 0; i < entries.size(); ++i) entries[i] += x * other.entries[i];
      bias += x * other.bias;
    }
    Real dot(const Unknowns& other) const {
      return dot_product(entries.data(), other.entries.data(), Index(entries.size())) + bias * other.bias;
    }
  };

  // residual = right-hand side - matrix * x.
  void set_residual(Index slice) {
    std::ranges::fill(residual_.entries, Real{});
    std::ranges::copy(background_.right, residual_.entries.begin());
    residual_.bias = background_.border_right;
    add_cells(slice, x_, residual_, [&](Index z, Real value, const Real* product) {
      const auto terms = cells_.terms(z);
      if (has_bias_) value += walk_.other_biases(product, walk_.leaf_row(z), n_);
      return terms.linear - terms.quadratic * value;
    });
    set_image_of_rest(x_);
    residual_.add(-1, image_);
  }

  void descend(Index slice) {
    constexpr Real negligible = std::numeric_limits<Real>::epsilon() * std::numeric_limits<Real>::epsilon();
    direction_ = residual_;
    Real size = residual_.dot(residual_);
    const Real end = size * negligible;
    for (int step = 0; step < systems_.cg_steps && size > end; ++step) {
      set_image_of_rest(direction_);
      add_cells(slice, direction_, image_,
                [&](Index z, Real value, const Real*) { return cells_.terms(z).quadratic * value; });
      const Real curvature = direction_.dot(image_), length = size / curvature;
      if (!(curvature > 0) || !std::isfinite(length)) return;
      x_.add(length, direction_);
      residual_.add(-length, image_);
      const Real before = size;
      size = residual_.dot(residual_);
      scale(direction_, size / before);
      direction_.add(1, residual_);
    }
  }
  static void scale(Unknowns& of, Real x) {
    for (Real& entry : of.entries) entry *= x;
    of.bias *= x;
  }

  // image = what background and regularisation make of v.
  void set_image_of_rest(const Unknowns& v) {
    Real* to = image_.entries.data();
    for (Index i = 0; i < n_; ++i) to[i] = ridge_ * v.entries[i];
    image_.bias = bias_ridge_ * v.bias;
    if (!background_.matrix.empty())
      add_multiples(to, v.entries.data(), background_.matrix.data(), n_, stride_);
    if (!has_bias_) {
      image_.bias = Real{};
      return;
    }
    if (background_.border.empty()) return;
    for (Index i = 0; i < n_; ++i) to[i] += background_.border[i] * v.bias;
    image_.bias += dot_product(background_.border.data(), v.entries.data(), n_) + background_.corner * v.bias;
  }

  // to += coefficient(z, <h, v>, product of the rows above) * h, over the cells of the slice.
  template <class Coefficient>
  void add_cells(Index slice, const Unknowns& v, Unknowns& to, Coefficient coefficient) {
    walk_.visit(slice, nullptr, [&](const Real* product, Index begin, Index end) {
      Index z = begin;
      for (; z + group <= end; z += group) add_group<group>(product, z, v, to, coefficient);
      for (; z < end; ++z) add_group<1>(product, z, v, to, coefficient);
    });
  }
  template <int Count, class Coefficient>
  [[gnu::always_inline]] void add_group(const Real* product, Index z, const Unknowns& v, Unknowns& to,
                                        Coefficient& coefficient) {
    const Real* h[Count];
    Real x[Count];
    for (int k = 0; k < Count; ++k) {
      walk_.prefetch(z + k);
      h[k] = walk_.leaf_row(z + k);
      if (product != nullptr) h[k] = multiplied(product, h[k], k);
    }
    dot_products<Count>(h, v.entries.data(), x);
    for (int k = 0; k < Count; ++k) {
      x[k] = coefficient(z + k, x[k] + v.bias, product);
      if (has_bias_) to.bias += x[k];
    }
    add_rows<Count>(to.entries.data(), x, h);
  }
  const Real* multiplied(const Real* product, const Real* leaf, int k) {
    Real* both = products_.data() + k * n_;
    for (Index r = 0; r < n_; ++r) both[r] = product[r] * leaf[r];
    return both;
  }

  template <int Count>
  [[gnu::always_inline]] void dot_products(const Real* const* h, const Real* v, Real* to) const {
    using B = Block<Real, 2 * lanes>;
    using Half = Block<Real, half_lanes>;
    B sum[Count];
    Half rest[Count];
    Index r = 0;
    for (; r + 2 * lanes <= n_; r += 2 * lanes) {
      const auto of_v = B::load(v + r);
#pragma GCC unroll 4
      for (int k = 0; k < Count; ++k) sum[k].add_product(B::load(h[k] + r), of_v);
    }
    for (; r + half_lanes <= n_; r += half_lanes) {
      const auto of_v = Half::load(v + r);
#pragma GCC unroll 4
      for (int k = 0; k < Count; ++k) rest[k].add_product(Half::load(h[k] + r), of_v);
    }
#pragma GCC unroll 4
    for (int k = 0; k < Count; ++k) to[k] = sum[k].sum() + rest[k].sum();
    for (; r < n_; ++r)
      for (int k = 0; k < Count; ++k) to[k] += h[k][r] * v[r];
  }
  template <int Count>
  [[gnu::always_inline]] void add_rows(Real* to, const Real* x, const Real* const* h) const {
    const auto add_at = [&](Index r, auto width) {
      using B = Block<Real, width>;
      auto sum = B::load(to + r);
#pragma GCC unroll 4
      for (int k = 0; k < Count; ++k) sum.add_scaled(x[k], B::load(h[k] + r));
      sum.store(to + r);
    };
    Index r = 0;
    for (; r + 2 * lanes <= n_; r += 2 * lanes) add_at(r, std::integral_constant<int, 2 * lanes>{});
    for (; r + half_lanes <= n_; r += half_lanes) add_at(r, std::integral_constant<int, half_lanes>{});
    for (; r < n_; ++r) add_at(r, std::integral_constant<int, 1>{});
  }

  const RowSystems<Real>& systems_;
  CellReader<Real> cells_;
  SliceWalk<Real> walk_;
  const BackgroundTerms<Real>& background_;
  Index n_;
  bool has_bias_;
  Index stride_;
  Real ridge_{}, bias_ridge_{};
  Unknowns x_, residual_, direction_, image_;
  Array<Real> products_;  // [cell of a group]: its row, where it is a product
  RowSeconds seconds_;
};

}  // namespace polyad::kernels
