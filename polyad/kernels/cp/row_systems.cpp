#include "polyad/kernels/cp/row_systems.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <vector>

#include "polyad/base/parallel.hpp"
#include "polyad/kernels/cp/normal_equations.hpp"
#include "polyad/kernels/cp/symmetric_system.hpp"

namespace polyad::kernels {
namespace {

// A cell adds quadratic * m^2 - 2 * linear * m + constant to the loss.
template <class Real>
struct CellTerms {
  Real quadratic, linear, constant;
};

template <class Real>
class CellReader {
 public:
  explicit CellReader(const RowSystems<Real>& systems)
      : values_(systems.tree.values().data()),
        weights_(systems.weights.empty() ? nullptr : systems.weights.data()),
        is_confidence_(systems.loss.kind == CellLoss::Kind::confidence),
        alpha_(Real(systems.loss.alpha)),
        background_(Real(systems.loss.background)) {}

  Real value(Index z) const { return values_[z]; }
  Real weight(Index z) const { return weights_ == nullptr ? Real(1) : weights_[z]; }
  CellTerms<Real> terms(Index z) const {
    const Real w = std::max(weight(z), Real{}), x = values_[z];
    if (w == 0) return {0, 0, 0};
    if (!is_confidence_) return {w - background_, w * x, w * x * x};
    const Real more = alpha_ * w * std::abs(x), liked = x > 0 ? background_ + more : Real{};
    return {more, liked, liked};
  }

 private:
  const Real* values_;
  const Real* weights_;
  bool is_confidence_;
  Real alpha_, background_;
};

// Visits the cells of a slice, fiber by fiber, with the product of the rows above them.
template <class Real>
class SliceWalk {
 public:
  SliceWalk(const CsfTree<Real>& tree, std::span<const Matrix<Real>> factors)
      : tree_(tree), factors_(factors), n_(factors[0].num_cols()) {
    products_.resize(std::size_t(tree.order()), std::vector<Real>(std::size_t(n_)));
  }

  // visit(product, first leaf, end): the product is null where it is a vector of ones. `above`: what the
  // product starts with, or null.
  template <class Visit>
  void visit(Index slice, const Real* above, Visit visit) {
    descend(0, slice, above, visit);
  }
  const Real* leaf_row(Index z) const { return row(tree_.last_level(), z); }
  const Real* root_row(Index slice) const { return row(0, slice); }

 private:
  const Real* row(int level, Index node) const {
    return factors_[tree_.modes()[level]].flat().data() + Index(tree_.ids(level)[node]) * n_;
  }

  template <class Visit>
  void descend(int level, Index node, const Real* product, Visit& visit) {
    const auto children = tree_.first_child(level);
    if (level + 1 == tree_.last_level()) return visit(product, children[node], children[node + 1]);
    for (Index child = children[node]; child < children[node + 1]; ++child) {
      const Real* of_child = row(level + 1, child);
      if (product != nullptr) {
        Real* both = products_[level + 1].data();
        for (Index r = 0; r < n_; ++r) both[r] = product[r] * of_child[r];
        of_child = both;
      }
      descend(level + 1, child, of_child, visit);
    }
  }

  const CsfTree<Real>& tree_;
  std::span<const Matrix<Real>> factors_;
  Index n_;
  std::vector<std::vector<Real>> products_;  // [level]
};

// Sets up and solves the systems of a mode, one after the other. One per thread.
template <class Real>
class RowSolver {
 public:
  RowSolver(const RowSystems<Real>& systems, std::span<const Matrix<Real>> factors,
            std::span<const Real> background)
      : systems_(systems),
        cells_(systems),
        walk_(systems.tree, factors),
        background_(background),
        n_(factors[0].num_cols()),
        system_(n_),
        panel_rows_(std::clamp<Index>(panel_bytes / (system_.stride() * Index(sizeof(Real))), 8, 64)),
        panel_(std::size_t(panel_rows_ * system_.stride()), Real{}),
        scaled_(std::size_t(panel_rows_ * system_.stride()), Real{}) {}

  static std::vector<Real> padded(const Matrix<double>& matrix, double factor) {
    const Index n = matrix.num_rows(), stride = SymmetricSystem<Real>(n).stride();
    std::vector<Real> result(std::size_t(stride * stride), Real{});
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) result[i * stride + j] = Real(matrix(i, j) * factor);
    return result;
  }

  // The solution of a slice's row goes to `to`.
  void solve(Index slice, Real* to) {
    set_up(slice);
    const Index unknowns = move_biases();
    if (!system_.solve(unknowns)) {
      set_up(slice);
      move_biases();
      solve_singular(unknowns);
    }
    write(to);
  }

 private:
  static constexpr Index panel_bytes = 16 << 10;

  bool has_biases() const { return n_ > systems_.num_factors; }

  void set_up(Index slice) {
    if (background_.empty())
      system_.clear();
    else
      system_.start_from(background_);
    filled_ = 0;
    is_scaled_ = false;
    walk_.visit(slice, nullptr, [&](const Real* product, Index begin, Index end) {
      for (Index z = begin; z < end; ++z) add(product, z);
    });
    flush();
    const Real ridge = systems_.ridge[systems_.tree.ids(0)[slice]];
    for (Index r = 0; r < systems_.num_factors; ++r) system_.at(r, r) += ridge;
  }

  void add(const Real* product, Index z) {
    const auto terms = cells_.terms(z);
    if (terms.quadratic == 0 && terms.linear == 0) return;
    __builtin_prefetch(walk_.leaf_row(z) + n_);
    const Real* leaf = walk_.leaf_row(z);
    Real* h = panel_.data() + filled_ * system_.stride();
    if (product == nullptr)
      std::copy_n(leaf, n_, h);
    else
      for (Index r = 0; r < n_; ++r) h[r] = product[r] * leaf[r];
    Real* right = system_.right();
    for (Index r = 0; r < n_; ++r) right[r] += terms.linear * h[r];
    Real* scaled = scaled_.data() + filled_ * system_.stride();
    is_scaled_ = is_scaled_ || terms.quadratic != 1;
    for (Index r = 0; r < n_; ++r) scaled[r] = terms.quadratic * h[r];
    if (++filled_ == panel_rows_) flush();
  }

  void flush() {
    const Real* left = is_scaled_ ? scaled_.data() : panel_.data();
    system_.add_products(left, panel_.data(), filled_);
    filled_ = 0;
    is_scaled_ = false;
  }

  // With biases: what the columns of the other biases explain is subtracted, and the bias of this mode
  // becomes the last unknown. Returns the number of unknowns.
  Index move_biases() {
    if (!has_biases()) return n_;
    const Index factors = systems_.num_factors, own = factors + systems_.mode();
    Real* right = system_.right();
    system_.at(own, own) += Real(systems_.bias_ridge);
    for (Index other = factors; other < n_; ++other) {
      if (other == own) continue;
      for (Index i = 0; i < factors; ++i) right[i] -= system_.at(i, other);
      right[own] -= system_.at(own, other);
    }
    for (Index i = 0; i < factors; ++i) system_.at(i, factors) = system_.at(i, own);
    system_.at(factors, factors) = system_.at(own, own);
    right[factors] = right[own];
    return factors + 1;
  }

  // By the pseudo-inverse, which is slow, but rows that hardly any cell determines are rare.
  void solve_singular(Index unknowns) {
    Matrix<double> matrix(unknowns, unknowns);
    for (Index i = 0; i < unknowns; ++i)
      for (Index j = 0; j < unknowns; ++j) matrix(i, j) = double(system_.at(i, j));
    const auto inverse = pseudo_inverse(matrix, std::numeric_limits<Real>::epsilon());
    const std::vector<double> right(system_.right(), system_.right() + unknowns);
    for (Index i = 0; i < unknowns; ++i) {
      double sum = 0;
      for (Index j = 0; j < unknowns; ++j) sum += inverse(i, j) * right[j];
      system_.right()[i] = Real(sum);
    }
  }

  void write(Real* to) {
    const Real* solution = system_.right();
    std::copy_n(solution, systems_.num_factors, to);
    if (!has_biases()) return;
    std::fill(to + systems_.num_factors, to + n_, Real(1));
    to[systems_.num_factors + systems_.mode()] = solution[systems_.num_factors];
  }

  const RowSystems<Real>& systems_;
  CellReader<Real> cells_;
  SliceWalk<Real> walk_;
  std::span<const Real> background_;
  Index n_;
  SymmetricSystem<Real> system_;
  Index panel_rows_;
  Array<Real> panel_, scaled_;  // rows h whose outer products are added together, and quadratic * h
  Index filled_ = 0;
  bool is_scaled_ = false;  // whether a row in the panel has a factor other than 1
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
  std::vector<Real> background;
  if (systems.loss.has_background())
    background = RowSolver<Real>::padded(*systems.gram, systems.loss.background);
  auto& solved = factors[systems.mode()];
  const Index num_slices = systems.tree.num_nodes(0);
  std::atomic<Index> next = 0;
  parallel_parts(num_threads(), [&](Index, Index, int) {
    RowSolver<Real> solver(systems, factors, background);
    for (Index begin = next.fetch_add(slices_at_a_time); begin < num_slices;
         begin = next.fetch_add(slices_at_a_time))
      for (Index slice = begin; slice < std::min(begin + slices_at_a_time, num_slices); ++slice)
        solver.solve(slice, solved.row(systems.tree.ids(0)[slice]).data());
  });
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
