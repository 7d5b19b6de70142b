#include "polyad/kernels/cp/row_systems.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "polyad/base/parallel.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/kernels/cp/cell_visits.hpp"
#include "polyad/kernels/cp/conjugate_rows.hpp"
#include "polyad/kernels/cp/dual_rows.hpp"
#include "polyad/kernels/cp/row_cells.hpp"
#include "polyad/kernels/cp/row_solver.hpp"
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
               const BackgroundTerms<Real>& background, const DualBasis<Real>* basis = nullptr)
      : systems_(systems),
        cells_(systems),
        walk_(*systems.tree, factors),
        n_(systems.num_factors),
        dual_(basis == nullptr ? nullptr : std::make_unique<DualRows<Real>>(systems, factors, *basis)),
        solver_(systems, factors[0].num_cols(), background),
        system_(solver_.system()),
        panel_rows_(std::clamp<Index>(panel_bytes / (system_.stride() * Index(sizeof(Real))), 8, 64)),
        panel_(std::size_t(panel_rows_ * system_.stride()), Real{}),
        rows_ahead_(std::size_t(panel_rows_), nullptr),
        roots_(std::size_t(panel_rows_), Real{}),
        of_right_(std::size_t(panel_rows_), Real{}),
        of_border_(std::size_t(panel_rows_), Real{}),
        watch_(systems.seconds != nullptr) {}
  CholeskyRows(const CholeskyRows&) = delete;  // the system is that of the solver
  CholeskyRows& operator=(const CholeskyRows&) = delete;

  // The solution of a slice's row goes to `to`.
  void solve(Index slice, Real* to) {
    watch_.add_to(seconds_.other);
    if (dual_ == nullptr || !dual_->solve(slice, to))
      solver_.solve(to, [&] {
        solver_.start();
        add_cells(slice);
        solver_.add_ridge(systems_.tree->ids(0)[slice]);
      });
    watch_.add_to(seconds_.factorise);
  }
  // What the cells of a slice add to the system of its row.
  void sum(Index slice, Real* words) {
    system_.clear();
    add_cells(slice);
    solver_.write_words(words);
  }
  const RowSeconds& seconds() const { return seconds_; }

 private:
  static constexpr Index panel_bytes = 16 << 10;

  bool has_biases() const { return solver_.has_biases(); }

  void add_cells(Index slice) {
    filled_ = 0;
    watch_.add_to(seconds_.other);
    walk_.visit(slice, nullptr,
                [&](const Real* product, Index begin, Index end) { add(product, begin, end); });
    flush();
  }

  // A cell adds quadratic * h^T h to the matrix: the panel has rows sqrt(|quadratic|) * h, all of one sign.
  void add(const Real* product, Index begin, Index end) {
    while (begin < end) {
      if (filled_ == panel_rows_) flush();
      const Index next = std::min(end, begin + panel_rows_ - filled_);
      if (product == nullptr && add_at_once(begin, next))
        begin = next;
      else
        for (; begin < next; ++begin) add_cell(product, begin);
    }
  }
  // Cells of which none is subtracted or has no outer product, as is usual. False: others are among them.
  bool add_at_once(Index begin, Index end) {
    const Index count = end - begin, n = n_, stride = system_.stride();
    if (filled_ > 0 && is_negative_) return false;
    Real *roots = roots_.data(), *of_right = of_right_.data() + filled_;
    bool all_are_added = true;
    cells_.prefetch_after(begin, end);
    walk_.prefetch_after(begin, end);
    const auto cells = cells_;  // nothing that is written here belongs to it
    for (Index k = 0; k < count; ++k) {
      const auto terms = cells.terms(begin + k);
      all_are_added &= terms.quadratic > 0;
      roots[k] = terms.quadratic;
      of_right[k] = terms.linear;
    }
    if (!all_are_added) return false;
    if (has_biases()) add_to_border(begin, count, roots, of_right);
    for (Index k = 0; k < count; ++k) {
      roots[k] = std::sqrt(roots[k]);
      of_right[k] /= roots[k];
    }
    if (has_biases()) std::copy_n(roots, count, of_border_.data() + filled_);
    is_negative_ = false;
    Real* h = panel_.data() + filled_ * stride;
    for (Index k = 0; k < count; ++k, h += stride) {
      rows_ahead_[filled_ + k] = walk_.row_ahead(begin + k);
      copy_scaled(h, roots[k], walk_.leaf_row(begin + k), n);
    }
    filled_ += count;
    return true;
  }
  // What the other biases explain is taken from the linear terms.
  void add_to_border(Index begin, Index count, const Real* quadratic, Real* linear) {
    Real corner = system_.corner(), right = system_.border_right();
    for (Index k = 0; k < count; ++k) {
      linear[k] -= quadratic[k] * walk_.other_biases(nullptr, walk_.leaf_row(begin + k), n_);
      corner += quadratic[k];
      right += linear[k];
    }
    system_.corner() = corner;
    system_.border_right() = right;
  }
  void add_cell(const Real* product, Index z) {
    const Index n = n_, stride = system_.stride();
    walk_.prefetch(z);
    auto terms = cells_.terms(z);
    if (terms.quadratic == 0 && terms.linear == 0) return;
    const Real* leaf = walk_.leaf_row(z);
    if (has_biases()) terms.linear -= terms.quadratic * walk_.other_biases(product, leaf, n);
    if (terms.quadratic == 0) {
      add_to_right(product, leaf, terms.linear);
      return;
    }
    if (const bool is_negative = terms.quadratic < 0; is_negative != is_negative_ || filled_ == panel_rows_) {
      flush();
      is_negative_ = is_negative;
    }
    const Real root = std::sqrt(std::abs(terms.quadratic));
    Real* h = panel_.data() + filled_ * stride;
    if (product == nullptr)
      copy_scaled(h, root, leaf, n);
    else
      for (Index r = 0; r < n; ++r) h[r] = root * product[r] * leaf[r];
    rows_ahead_[filled_] = walk_.row_ahead(z);
    of_right_[filled_] = terms.linear / root;
    if (has_biases()) {
      of_border_[filled_] = terms.quadratic < 0 ? -root : root;
      system_.corner() += terms.quadratic;
      system_.border_right() += terms.linear;
    }
    ++filled_;
  }
  void add_to_right(const Real* product, const Real* leaf, Real linear) {
    Real* right = system_.right();
    for (Index r = 0; r < n_; ++r) right[r] += linear * (product == nullptr ? leaf[r] : product[r] * leaf[r]);
    system_.border_right() += linear;
  }
  [[gnu::noinline]] void flush() {
    watch_.add_to(seconds_.gather);
    if (filled_ == 0) return;
    system_.add_products(panel_.data(), filled_, is_negative_, [rows = rows_ahead_.data()](Index i, Index k) {
      __builtin_prefetch(rows[k] + i, 0, 2);
    });
    watch_.add_to(seconds_.products);
    add_multiples(system_.right(), of_right_.data(), panel_.data(), filled_, system_.stride());
    if (has_biases())
      add_multiples(system_.border(), of_border_.data(), panel_.data(), filled_, system_.stride());
    filled_ = 0;
    watch_.add_to(seconds_.gather);
  }

  const RowSystems<Real>& systems_;
  CellReader<Real> cells_;
  SliceWalk<Real> walk_;
  Index n_;
  std::unique_ptr<DualRows<Real>> dual_;  // for slices of few cells; null: there is no basis for it
  RowSolver<Real> solver_;
  SymmetricSystem<Real>& system_;
  Index panel_rows_;
  Array<Real> panel_;                    // rows whose outer products are added together
  std::vector<const Real*> rows_ahead_;  // [row of the panel]: one that a later panel has
  Array<Real> roots_;                    // of the cells that are added at once
  Array<Real> of_right_,
      of_border_;  // [row of the panel]: how often the right-hand side, and the border, has it
  Index filled_ = 0;
  bool is_negative_ = false;  // whether the outer products are subtracted
  OptionalStopwatch watch_;
  RowSeconds seconds_;
};

// Adds the cells of rows to the words of their systems, one by one. One per thread.
template <class Real>
class CellSums {
 public:
  CellSums(const RowSystems<Real>& systems, std::span<const Matrix<Real>> factors)
      : cells_(systems),
        factors_(factors),
        mode_(systems.mode()),
        n_(systems.num_factors),
        h_(std::size_t(factors[0].num_cols())) {}

  void add(const LocalIndex* at, Index z, Real* words) {
    auto terms = cells_.terms(z);
    if (terms.quadratic == 0 && terms.linear == 0) return;
    multiply(at, mode_);
    const bool has_biases = std::ssize(h_) > n_;
    if (has_biases)
      for (Index c = n_; c < std::ssize(h_); ++c)
        if (c != n_ + mode_) terms.linear -= terms.quadratic * h_[c];
    for (Index i = 0; i < n_; ++i) {
      const Real x = terms.quadratic * h_[i];
      for (Index j = i; j < n_; ++j) *words++ += x * h_[j];
    }
    for (Index i = 0; i < n_; ++i) *words++ += terms.linear * h_[i];
    if (!has_biases) return;
    for (Index i = 0; i < n_; ++i) *words++ += terms.quadratic * h_[i];
    *words++ += terms.quadratic;
    *words += terms.linear;
  }
  // The value of the model, without the offset.
  Real value(const LocalIndex* at) {
    multiply(at, -1);
    Real sum{};
    for (const Real x : h_) sum += x;
    return sum;
  }

 private:
  // h = the product of the rows of all modes but one.
  void multiply(const LocalIndex* at, int except) {
    std::ranges::fill(h_, Real(1));
    for (std::size_t m = 0; m < factors_.size(); ++m) {
      if (int(m) == except) continue;
      const auto row = factors_[m].row(Index(at[m]));
      for (std::size_t r = 0; r < h_.size(); ++r) h_[r] *= row[r];
    }
  }

  CellReader<Real> cells_;
  std::span<const Matrix<Real>> factors_;
  int mode_;
  Index n_;
  std::vector<Real> h_;
};

// Slices, and rows, that a thread takes at a time: few, because their sizes differ.
constexpr Index slices_at_a_time = 8;

// work(make(), begin, end) for parts of [0, count), which threads take in turn. make() is called by each.
template <class Make, class Work>
void share_out(Index count, Index at_a_time, Make make, Work work) {
  std::atomic<Index> next = 0;
  parallel_parts(num_threads(), [&](Index, Index, int) {
    auto of_thread = make();
    for (Index begin = next.fetch_add(at_a_time); begin < count; begin = next.fetch_add(at_a_time))
      work(of_thread, begin, std::min(begin + at_a_time, count));
  });
}

// The first slice of a row, or of a later one.
template <class Real>
Index slice_from(const CsfTree<Real>& tree, Index row) {
  const auto ids = tree.ids(0).first(std::size_t(tree.num_nodes(0)));
  return std::ranges::lower_bound(ids, row, {}, [](LocalIndex id) { return Index(id); }) - ids.begin();
}

template <class Real, class Visit>
void visit_cells_of(const RowSystems<Real>& systems, Index begin, Index end, Visit visit) {
  std::visit([&](const auto& format) { visit_cells(format, systems.mode(), begin, end, visit); },
             *systems.cells);
}

// A pass over a tree takes time for all nodes above the mode: one per thread is enough.
template <class Real>
Index rows_at_a_time(const RowSystems<Real>& systems, Index num_rows) {
  if (!std::holds_alternative<CsfTensor<Real>>(*systems.cells)) return slices_at_a_time;
  return std::max<Index>(1, (num_rows + num_threads() - 1) / num_threads());
}

// Nothing, if no rows are worth it.
template <class Real>
std::optional<DualBasis<Real>> dual_basis(const RowSystems<Real>& systems,
                                          std::span<const Matrix<Real>> factors) {
  if (!DualRows<Real>::suits(systems, factors[0].num_cols())) return std::nullopt;
  if (!systems.loss.has_background()) return DualBasis<Real>(systems.num_factors);
  return DualBasis<Real>(*systems.gram, systems.loss.background, factors[systems.tree->modes().back()]);
}

// Errors of cells, summed up.
template <class Real>
class ErrorCount {
 public:
  explicit ErrorCount(const RowSystems<Real>& systems) : systems_(systems), cells_(systems) {}

  // m: the value of the model, without the offset.
  void add(Index z, Real m) {
    const auto terms = cells_.terms(z);
    const double value = double(cells_.value(z)), error = value - systems_.range.clip(double(m));
    const Real weight = cells_.weight(z);
    if (weight != 0) {
      auto& sums = weight > 0 ? errors_.train : errors_.test;
      sums.squares += error * error;
      sums.magnitudes += std::abs(error);
      ++sums.count;
    }
    const auto squared = double(m) * double(m);
    if (systems_.loss.kind == CellLoss::Kind::squares)
      errors_.loss += std::max(double(weight), 0.0) * error * error -
                      (weight > 0 ? systems_.loss.background * squared : 0);
    else
      errors_.loss +=
          double(terms.quadratic) * squared - 2 * double(terms.linear) * double(m) + double(terms.constant);
  }
  const CellErrors& errors() const { return errors_; }

 private:
  const RowSystems<Real>& systems_;
  CellReader<Real> cells_;
  CellErrors errors_;
};

template <class Real>
CellErrors errors_of_slices(const RowSystems<Real>& systems, std::span<const Matrix<Real>> factors,
                            Index begin, Index end) {
  SliceWalk<Real> walk(*systems.tree, factors);
  ErrorCount<Real> count(systems);
  for (Index slice = begin; slice < end; ++slice)
    walk.visit(slice, walk.root_row(slice), [&](const Real* product, Index first, Index last) {
      for (Index z = first; z < last; ++z)
        count.add(z, dot_product(product, walk.leaf_row(z), factors[0].num_cols()));
    });
  return count.errors();
}

template <class Real>
CellErrors errors_of_rows(const RowSystems<Real>& systems, std::span<const Matrix<Real>> factors, Index begin,
                          Index end) {
  ErrorCount<Real> count(systems);
  CellSums<Real> values(systems, factors);
  visit_cells_of(systems, begin, end, [&](const LocalIndex* at, Index z) { count.add(z, values.value(at)); });
  return count.errors();
}

}  // namespace

template <class Real>
std::span<const Real> cell_values(const RowSystems<Real>& systems) {
  if (systems.tree != nullptr) return systems.tree->values();
  struct Values {
    std::span<const Real> operator()(const CooTensor<Real>& x) const { return x.tensor.values(); }
    std::span<const Real> operator()(const CsfTensor<Real>& x) const { return x.trees.front().values(); }
    std::span<const Real> operator()(const HicooTensor<Real>& x) const { return x.values; }
  };
  return std::visit(Values{}, *systems.cells);
}

Index words_of_system(Index num_factors, bool has_biases) {
  return num_factors * (num_factors + 3) / 2 + (has_biases ? num_factors + 2 : 0);
}

template <class Real>
std::vector<Real> background_words(const RowSystems<Real>& systems) {
  const BackgroundTerms<Real> terms(systems);
  const Index n = systems.num_factors, stride = SymmetricSystem<Real>::stride_for(n);
  std::vector<Real> words;
  for (Index i = 0; i < n; ++i)
    words.insert(words.end(), &terms.matrix[i * stride + i], &terms.matrix[i * stride] + n);
  words.insert(words.end(), terms.right.begin(), terms.right.end());
  if (terms.border.empty()) return words;
  words.insert(words.end(), terms.border.begin(), terms.border.end());
  words.push_back(terms.corner);
  words.push_back(terms.border_right);
  return words;
}

template <class Real>
Index dual_basis_bytes(Index num_factors, Index num_leaf_rows) {
  const Index stride = SymmetricSystem<Real>::stride_for(num_factors);
  return (num_leaf_rows + 2 * num_factors) * stride * Index(sizeof(Real));
}

template <class Real>
void solve_rows(const RowSystems<Real>& systems, std::span<Matrix<Real>> factors, Index num_rows) {
  BackgroundTerms<Real> background;
  if (systems.loss.has_background()) background = BackgroundTerms<Real>(systems);
  const auto basis = dual_basis<Real>(systems, factors);
  auto& solved = factors[systems.mode()];
  const Index num_slices = slice_from(*systems.tree, num_rows);
  std::atomic<Index> next = 0;
  const auto threads = std::size_t(num_threads());
  std::vector<RowSeconds> seconds(threads);
  const auto solve_some = [&](auto&& solver, RowSeconds& of_thread) {
    for (Index begin = next.fetch_add(slices_at_a_time); begin < num_slices;
         begin = next.fetch_add(slices_at_a_time))
      for (Index slice = begin; slice < std::min(begin + slices_at_a_time, num_slices); ++slice)
        solver.solve(slice, solved.row(systems.tree->ids(0)[slice]).data());
    of_thread = solver.seconds();
  };
  parallel_parts(num_threads(), [&](Index, Index, int thread) {
    if (systems.cg_steps > 0)
      solve_some(ConjugateRows<Real>(systems, factors, background), seconds[thread]);
    else
      solve_some(CholeskyRows<Real>(systems, factors, background, basis ? &*basis : nullptr),
                 seconds[thread]);
  });
  if (systems.seconds != nullptr)
    for (const auto& of_thread : seconds) *systems.seconds += of_thread;
}

template <class Real>
void solve_rows(const RowSystems<Real>& systems, std::span<Matrix<Real>> factors,
                std::span<const Index> slices) {
  BackgroundTerms<Real> background;
  if (systems.loss.has_background()) background = BackgroundTerms<Real>(systems);
  auto& solved = factors[systems.mode()];
  share_out(
      std::ssize(slices), 1, [&] { return CholeskyRows<Real>(systems, factors, background); },
      [&](auto& rows, Index begin, Index end) {
        for (Index i = begin; i < end; ++i)
          rows.solve(slices[i], solved.row(systems.tree->ids(0)[slices[i]]).data());
      });
}

template <class Real>
void sum_systems(const RowSystems<Real>& systems, std::span<const Matrix<Real>> factors, Index first,
                 Matrix<Real>& sums) {
  parallel_for(sums.num_rows(), [&](Index i) { std::ranges::fill(sums.row(i), Real{}); });
  if (systems.tree != nullptr) {
    const BackgroundTerms<Real> none;
    const Index first_slice = slice_from(*systems.tree, first);
    share_out(
        systems.tree->num_nodes(0) - first_slice, slices_at_a_time,
        [&] { return CholeskyRows<Real>(systems, factors, none); },
        [&](auto& rows, Index begin, Index end) {
          for (Index slice = first_slice + begin; slice < first_slice + end; ++slice)
            rows.sum(slice, sums.row(Index(systems.tree->ids(0)[slice]) - first).data());
        });
    return;
  }
  share_out(
      sums.num_rows(), rows_at_a_time(systems, sums.num_rows()),
      [&] { return CellSums<Real>(systems, factors); },
      [&](auto& cells, Index begin, Index end) {
        visit_cells_of(systems, first + begin, first + end, [&](const LocalIndex* at, Index z) {
          cells.add(at, z, sums.row(Index(at[systems.mode()]) - first).data());
        });
      });
}

template <class Real>
void solve_sums(const RowSystems<Real>& systems, const Matrix<Real>& sums, Index first, Index end,
                std::span<Matrix<Real>> factors) {
  BackgroundTerms<Real> background;
  if (systems.loss.has_background()) background = BackgroundTerms<Real>(systems);
  auto& solved = factors[systems.mode()];
  share_out(
      end - first, slices_at_a_time, [&] { return RowSolver<Real>(systems, solved.num_cols(), background); },
      [&](auto& solver, Index begin, Index last) {
        for (Index row = first + begin; row < first + last; ++row)
          solver.solve(solved.row(row).data(), [&] {
            solver.start();
            solver.add_words(sums.row(row - first).data());
            solver.add_ridge(row);
          });
      });
}

template <class Real>
CellErrors measure_cells(const RowSystems<Real>& systems, std::span<const Matrix<Real>> factors) {
  constexpr Index num_parts = 256;
  std::array<CellErrors, num_parts> parts{};
  std::atomic<Index> next = 0;
  const bool is_tree = systems.tree != nullptr;
  const Index count = is_tree ? systems.tree->num_nodes(0) : factors[systems.mode()].num_rows();
  parallel_parts(num_threads(), [&](Index, Index, int) {
    for (Index part = next++; part < num_parts; part = next++) {
      const Index begin = part_begin(count, part, num_parts), end = part_begin(count, part + 1, num_parts);
      parts[part] = is_tree ? errors_of_slices(systems, factors, begin, end)
                            : errors_of_rows(systems, factors, begin, end);
    }
  });
  CellErrors sum;
  for (const auto& part : parts) sum += part;
  return sum;
}

template <class Real>
Array<Index> count_cells(const RowSystems<Real>& systems, Index num_rows) {
  Array<Index> counts(std::size_t(num_rows), Index(0));
  const auto weights = systems.weights;
  if (systems.tree == nullptr) {
    visit_cells_of(systems, 0, num_rows, [&](const LocalIndex* at, Index z) {
      if (weights.empty() || weights[z] > 0) ++counts[at[systems.mode()]];
    });
    return counts;
  }
  const auto& tree = *systems.tree;
  parallel_for(tree.num_nodes(0), [&](Index slice) {
    const Index begin = tree.first_nonzero(0, slice), end = tree.first_nonzero(0, slice + 1);
    Index count = end - begin;
    if (!weights.empty())
      count = std::count_if(weights.begin() + begin, weights.begin() + end, [](Real w) { return w > 0; });
    counts[tree.ids(0)[slice]] = count;
  });
  return counts;
}

template std::vector<float> background_words(const RowSystems<float>&);
template Index dual_basis_bytes<float>(Index, Index);
template std::span<const float> cell_values(const RowSystems<float>&);
template void solve_rows(const RowSystems<float>&, std::span<Matrix<float>>, Index);
template void solve_rows(const RowSystems<float>&, std::span<Matrix<float>>, std::span<const Index>);
template void sum_systems(const RowSystems<float>&, std::span<const Matrix<float>>, Index, Matrix<float>&);
template void solve_sums(const RowSystems<float>&, const Matrix<float>&, Index, Index,
                         std::span<Matrix<float>>);
template CellErrors measure_cells(const RowSystems<float>&, std::span<const Matrix<float>>);
template Array<Index> count_cells(const RowSystems<float>&, Index);
template std::vector<double> background_words(const RowSystems<double>&);
template Index dual_basis_bytes<double>(Index, Index);
template std::span<const double> cell_values(const RowSystems<double>&);
template void solve_rows(const RowSystems<double>&, std::span<Matrix<double>>, Index);
template void solve_rows(const RowSystems<double>&, std::span<Matrix<double>>, std::span<const Index>);
template void sum_systems(const RowSystems<double>&, std::span<const Matrix<double>>, Index, Matrix<double>&);
template void solve_sums(const RowSystems<double>&, const Matrix<double>&, Index, Index,
                         std::span<Matrix<double>>);
template CellErrors measure_cells(const RowSystems<double>&, std::span<const Matrix<double>>);
template Array<Index> count_cells(const RowSystems<double>&, Index);

}  // namespace polyad::kernels
