#include "polyad/kernels/cp/row_systems.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <vector>

#include "polyad/base/parallel.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/kernels/cp/conjugate_rows.hpp"
#include "polyad/kernels/cp/normal_equations.hpp"
#include "polyad/kernels/cp/row_cells.hpp"
#include "polyad/kernels/cp/symmetric_system.hpp"

namespace polyad::kernels {
namespace {

// The time since the last lap, if it is to be measured at all.
class OptionalStopwatch {
 public:
  explicit OptionalStopwatch(bool is_on) : is_on_(is_on) {}
  void add_to(double& seconds) {
    if (is_on_) seconds += watch_.lap();
  }

 private:
  bool is_on_;
  Stopwatch watch_;
};

// Sets up and solves the systems of a mode, one after the other. One per thread.
template <class Real>
class CholeskyRows {
 public:
  CholeskyRows(const RowSystems<Real>& systems, std::span<const Matrix<Real>> factors,
               const BackgroundTerms<Real>& background)
      : systems_(systems),
        cells_(systems),
        walk_(systems.tree, factors),
        background_(background),
        n_(systems.num_factors),
        num_columns_(factors[0].num_cols()),
        system_(n_),
        panel_rows_(std::clamp<Index>(panel_bytes / (system_.stride() * Index(sizeof(Real))), 8, 64)),
        panel_(std::size_t(panel_rows_ * system_.stride()), Real{}),
        of_right_(std::size_t(panel_rows_), Real{}),
        of_border_(std::size_t(panel_rows_), Real{}),
        watch_(systems.seconds != nullptr) {}

  // The solution of a slice's row goes to `to`.
  void solve(Index slice, Real* to) {
    watch_.add_to(seconds_.other);
    set_up(slice);
    const bool is_solved = system_.solve(has_biases());
    watch_.add_to(seconds_.factorise);
    if (!is_solved) {
      set_up(slice);
      solve_singular();
    }
    write(to);
  }
  const RowSeconds& seconds() const { return seconds_; }

 private:
  static constexpr Index panel_bytes = 16 << 10;

  bool has_biases() const { return num_columns_ > n_; }

  void set_up(Index slice) {
    if (background_.matrix.empty())
      system_.clear();
    else
      start_from_background();
    filled_ = 0;
    watch_.add_to(seconds_.other);
    walk_.visit(slice, nullptr, [&](const Real* product, Index begin, Index end) {
      for (Index z = begin; z < end; ++z) add(product, z);
    });
    flush();
    const Real ridge = systems_.ridge[systems_.tree.ids(0)[slice]];
    for (Index r = 0; r < n_; ++r) system_.at(r, r) += ridge;
    system_.corner() += Real(systems_.bias_ridge);
  }
  void start_from_background() {
    system_.start_from(background_.matrix);
    std::ranges::copy(background_.right, system_.right());
    std::ranges::copy(background_.border, system_.border());
    system_.corner() = background_.corner;
    system_.border_right() = background_.border_right;
  }

  // A cell adds quadratic * h^T h to the matrix: the panel has rows sqrt(|quadratic|) * h, all of one sign.
  void add(const Real* product, Index z) {
    walk_.prefetch(z);
    auto terms = cells_.terms(z);
    if (terms.quadratic == 0 && terms.linear == 0) return;
    const Real* leaf = walk_.leaf_row(z);
    if (has_biases()) terms.linear -= terms.quadratic * walk_.other_biases(product, leaf, n_);
    if (terms.quadratic == 0) return add_to_right(product, leaf, terms.linear);
    if ((terms.quadratic < 0) != is_negative_) {
      flush();
      is_negative_ = !is_negative_;
    }
    const Real root = std::sqrt(std::abs(terms.quadratic));
    Real* h = panel_.data() + filled_ * system_.stride();
    if (product == nullptr)
      copy_scaled(h, root, leaf, n_);
    else
      for (Index r = 0; r < n_; ++r) h[r] = root * product[r] * leaf[r];
    of_right_[filled_] = terms.linear / root;
    if (has_biases()) {
      of_border_[filled_] = terms.quadratic < 0 ? -root : root;
      system_.corner() += terms.quadratic;
      system_.border_right() += terms.linear;
    }
    if (++filled_ == panel_rows_) flush();
  }
  void add_to_right(const Real* product, const Real* leaf, Real linear) {
    Real* right = system_.right();
    for (Index r = 0; r < n_; ++r) right[r] += linear * (product == nullptr ? leaf[r] : product[r] * leaf[r]);
    system_.border_right() += linear;
  }
  void flush() {
    watch_.add_to(seconds_.gather);
    if (filled_ == 0) return;
    system_.add_products(panel_.data(), filled_, is_negative_);
    watch_.add_to(seconds_.products);
    add_multiples(system_.right(), of_right_.data(), panel_.data(), filled_, system_.stride());
    if (has_biases())
      add_multiples(system_.border(), of_border_.data(), panel_.data(), filled_, system_.stride());
    filled_ = 0;
    watch_.add_to(seconds_.gather);
  }

  // By the pseudo-inverse, which is slow, but rows that hardly any cell determines are rare.
  void solve_singular() {
    const Index unknowns = n_ + (has_biases() ? 1 : 0);
    Matrix<double> matrix(unknowns, unknowns);
    std::vector<double> right(system_.right(), system_.right() + n_);
    for (Index i = 0; i < n_; ++i)
      for (Index j = 0; j < n_; ++j) matrix(i, j) = double(system_.at(i, j));
    if (has_biases()) {
      for (Index i = 0; i < n_; ++i) matrix(i, n_) = matrix(n_, i) = double(system_.border()[i]);
      matrix(n_, n_) = double(system_.corner());
      right.push_back(double(system_.border_right()));
    }
    const auto inverse = pseudo_inverse(matrix, std::numeric_limits<Real>::epsilon());
    for (Index i = 0; i < unknowns; ++i) {
      double sum = 0;
      for (Index j = 0; j < unknowns; ++j) sum += inverse(i, j) * right[j];
      (i < n_ ? system_.right()[i] : system_.border_right()) = Real(sum);
    }
  }

  void write(Real* to) {
    std::copy_n(system_.right(), n_, to);
    if (!has_biases()) return;
    std::fill(to + n_, to + num_columns_, Real(1));
    to[n_ + systems_.mode()] = system_.border_right();
  }

  const RowSystems<Real>& systems_;
  CellReader<Real> cells_;
  SliceWalk<Real> walk_;
  const BackgroundTerms<Real>& background_;
  Index n_, num_columns_;
  SymmetricSystem<Real> system_;
  Index panel_rows_;
  Array<Real> panel_;  // rows whose outer products are added together
  Array<Real> of_right_,
      of_border_;  // [row of the panel]: how often the right-hand side, and the border, has it
  Index filled_ = 0;
  bool is_negative_ = false;  // whether the outer products are subtracted
  OptionalStopwatch watch_;
  RowSeconds seconds_;
};

// Slices that a thread takes at a time: few, because their sizes differ.
constexpr Index slices_at_a_time = 8;

template <class Real>
CellErrors errors_of_slices(const RowSystems<Real>& systems, SliceWalk<Real>& walk, Index n, Index begin,
                            Index end) {
  const CellReader<Real> cells(systems);
  const double background = systems.loss.background;
  CellErrors errors;
  for (Index slice = begin; slice < end; ++slice)
    walk.visit(slice, walk.root_row(slice), [&](const Real* product, Index first, Index last) {
      for (Index z = first; z < last; ++z) {
        const Real m = dot_product(product, walk.leaf_row(z), n);
        const auto terms = cells.terms(z);
        const double value = double(cells.value(z)), error = value - systems.range.clip(double(m));
        const Real weight = cells.weight(z);
        if (weight != 0) {
          auto& sums = weight > 0 ? errors.train : errors.test;
          sums.squares += error * error;
          sums.magnitudes += std::abs(error);
          ++sums.count;
        }
        const auto squared = double(m) * double(m);
        if (systems.loss.kind == CellLoss::Kind::squares)
          errors.loss +=
              std::max(double(weight), 0.0) * error * error - (weight > 0 ? background * squared : 0);
        else
          errors.loss += double(terms.quadratic) * squared - 2 * double(terms.linear) * double(m) +
                         double(terms.constant);
      }
    });
  return errors;
}

}  // namespace

template <class Real>
void solve_rows(const RowSystems<Real>& systems, std::span<Matrix<Real>> factors) {
  BackgroundTerms<Real> background;
  if (systems.loss.has_background()) background = BackgroundTerms<Real>(systems);
  auto& solved = factors[systems.mode()];
  const Index num_slices = systems.tree.num_nodes(0);
  std::atomic<Index> next = 0;
  const auto threads = std::size_t(num_threads());
  std::vector<RowSeconds> seconds(threads);
  const auto solve_some = [&](auto solver, RowSeconds& of_thread) {
    for (Index begin = next.fetch_add(slices_at_a_time); begin < num_slices;
         begin = next.fetch_add(slices_at_a_time))
      for (Index slice = begin; slice < std::min(begin + slices_at_a_time, num_slices); ++slice)
        solver.solve(slice, solved.row(systems.tree.ids(0)[slice]).data());
    of_thread = solver.seconds();
  };
  parallel_parts(num_threads(), [&](Index, Index, int thread) {
    if (systems.cg_steps > 0)
      solve_some(ConjugateRows<Real>(systems, factors, background), seconds[thread]);
    else
      solve_some(CholeskyRows<Real>(systems, factors, background), seconds[thread]);
  });
  if (systems.seconds != nullptr)
    for (const auto& of_thread : seconds) *systems.seconds += of_thread;
}

template <class Real>
CellErrors measure_cells(const RowSystems<Real>& systems, std::span<const Matrix<Real>> factors) {
  constexpr Index num_parts = 256;
  std::array<CellErrors, num_parts> parts{};
  std::atomic<Index> next = 0;
  const Index num_slices = systems.tree.num_nodes(0);
  parallel_parts(num_threads(), [&](Index, Index, int) {
    SliceWalk<Real> walk(systems.tree, factors);
    for (Index part = next++; part < num_parts; part = next++)
      parts[part] =
          errors_of_slices(systems, walk, factors[0].num_cols(), part_begin(num_slices, part, num_parts),
                           part_begin(num_slices, part + 1, num_parts));
  });
  CellErrors sum;
  for (const auto& part : parts) sum += part;
  return sum;
}

template <class Real>
Array<Index> count_cells(const CsfTree<Real>& tree, std::span<const Real> weights, Index num_rows) {
  Array<Index> counts(std::size_t(num_rows), Index(0));
  parallel_for(tree.num_nodes(0), [&](Index slice) {
    const Index begin = tree.first_nonzero(0, slice), end = tree.first_nonzero(0, slice + 1);
    Index count = end - begin;
    if (!weights.empty())
      count = std::count_if(weights.begin() + begin, weights.begin() + end, [](Real w) { return w > 0; });
    counts[tree.ids(0)[slice]] = count;
  });
  return counts;
}

template void solve_rows(const RowSystems<float>&, std::span<Matrix<float>>);
template void solve_rows(const RowSystems<double>&, std::span<Matrix<double>>);
template CellErrors measure_cells(const RowSystems<float>&, std::span<const Matrix<float>>);
template CellErrors measure_cells(const RowSystems<double>&, std::span<const Matrix<double>>);
template Array<Index> count_cells(const CsfTree<float>&, std::span<const float>, Index);
template Array<Index> count_cells(const CsfTree<double>&, std::span<const double>, Index);

}  // namespace polyad::kernels
