#include "polyad/algo/cp/observed_als.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "polyad/algo/cp/random_start.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/distributed/row_exchange.hpp"
#include "polyad/kernels/cp/factor.hpp"
#include "polyad/kernels/cp/normal_equations.hpp"
#include "polyad/kernels/cp/row_update.hpp"

namespace polyad {
namespace {

constexpr double least_fall = 1e-4;  // of the held-out error, for a sweep to count as better

ErrorFigures figures_of(const ErrorSums& sums) {
  if (sums.count == 0) return {};
  return {std::sqrt(sums.squares / double(sums.count)), sums.magnitudes / double(sums.count)};
}

// Over all processes, in one collective.
kernels::CellErrors sum_over(const Comm& comm, const kernels::CellErrors& own) {
  std::vector<double> all{own.loss,
                          own.train.squares,
                          own.train.magnitudes,
                          own.test.squares,
                          own.test.magnitudes,
                          double(own.train.count),
                          double(own.test.count)};
  comm.all_reduce(std::span(all));
  return {all[0], {all[1], all[2], Index(all[5])}, {all[3], all[4], Index(all[6])}};
}

template <class Real>
class ObservedSweeps {
 public:
  ObservedSweeps(const ObservedTensor<Real>& cells, const ObservedOptions& options,
                 const Kruskal<Real>* start)
      : cells_(cells), x_(cells.x), options_(options), mode_order_(options.mode_order), loss_(options.loss) {
    const int order = x_.order();
    if (mode_order_.empty()) {
      mode_order_.resize(std::size_t(order));
      std::iota(mode_order_.begin(), mode_order_.end(), 0);
    }
    const bool has_values = loss_.kind == kernels::CellLoss::Kind::squares;
    const auto random = random_start(options, has_values && !options.has_biases && is_mostly_positive());
    // Values of the model are about as large as those of the tensor.
    const double size = std::pow(options.unit / std::sqrt(double(options.num_components)), 1.0 / order);
    for (int m = 0; m < order; ++m) {
      auto& factor = factors_.emplace_back(x_.num_rows(m), num_columns());
      kernels::fill_with_start(factor, options.num_components, random, m, x_.rows(m));
      for (Real& entry : factor.flat()) entry *= Real(size);
      if (start != nullptr) start_from(*start, m);
      start_biases(m);
      grams_.push_back(kernels::gram(factor, x_.num_owned(m)));
      x_.comm().all_reduce(grams_.back().flat());
      ridges_.push_back(ridges_of(m));
    }
    for (int m = 0; m < order; ++m)
      exchanges_.emplace_back(
          x_.comm(), x_.exchange(m),
          typename RowExchange<Real>::Rows{nothing_, factors_[m], num_columns(), x_.num_rows(m)}, m);
    if (start == nullptr) return;
    for (auto& exchange : exchanges_) {
      exchange.start_expanding();
      exchange.finish_expanding();
    }
    sent_before_ = sent_by(exchanges_);
  }
  ObservedSweeps(const ObservedSweeps&) = delete;  // the exchanges refer to its rows
  ObservedSweeps& operator=(const ObservedSweeps&) = delete;

  // Sweeps in which cells that are not observed count as zeros, at first like the others, then, for a loss
  // that leaves them out, less and less. With many modes, rows that few cells determine from random rows fit
  // those at once, whatever the others are; sweeps then stay there. Zeros guide the first sweeps towards what
  // all cells have in common.
  void approach() {
    constexpr int num_full = 10;
    const int num_fading = options_.loss.has_background() ? 0 : 8;
    std::vector<Array<Real>> none;  // zeros make the model small, and regularisation would end it
    for (const auto& ridges : ridges_) none.emplace_back(ridges.size(), Real{});
    std::swap(none, ridges_);
    for (int i = 0; i < num_full + num_fading; ++i) {
      if (!options_.loss.has_background())
        loss_.background = i < num_full ? 1 : std::exp2(-double(i - num_full + 1));
      for (const int mode : mode_order_) update(mode);
      ++num_sweeps_;
    }
    loss_ = options_.loss;
    std::swap(none, ridges_);
  }

  Sweep sweep() {
    for (const int mode : mode_order_) update(mode);
    ++num_sweeps_;
    return timings_.measure("measure", [&] { return measure(); });
  }

  std::vector<Matrix<Real>> owned_rows() const {
    std::vector<Matrix<Real>> rows;
    for (int m = 0; m < x_.order(); ++m)
      rows.push_back(kernels::first_rows(Matrix<Real>(factors_[m]), x_.num_owned(m)));
    return rows;
  }
  const std::vector<Matrix<double>>& grams() const { return grams_; }
  Index num_columns() const { return options_.num_components + (options_.has_biases ? x_.order() : 0); }
  int num_sweeps() const { return num_sweeps_; }  // those of approach() included
  Traffic sent() const { return sent_by(exchanges_) - sent_before_; }
  const Timings& timings() const { return timings_; }

 private:
  bool is_mostly_positive() const {
    constexpr Index fraction = 10;
    return x_.num_negative() * fraction <= x_.num_nonzeros();
  }

  // Each mode takes its part of the weights, whose columns have length one.
  void start_from(const Kruskal<Real>& start, int mode) {
    auto rows = start.factors[mode];
    const double scale =
        loss_.kind == kernels::CellLoss::Kind::squares ? x_.value_scale() : 1;  // else of 0 and 1
    for (Index i = 0; i < rows.num_rows(); ++i)
      for (Index r = 0; r < rows.num_cols(); ++r)
        rows(i, r) *= Real(std::pow(start.weights[r] / scale, 1.0 / x_.order()));
    kernels::fill_with_columns(factors_[mode], rows);
  }

  void start_biases(int mode) {
    if (!options_.has_biases) return;
    auto& factor = factors_[mode];
    for (Index i = 0; i < factor.num_rows(); ++i)
      for (int m = 0; m < x_.order(); ++m)
        factor(i, options_.num_components + m) = m == mode ? Real(0) : Real(1);
  }

  std::span<const Real> weights(int mode) const {
    return cells_.weights.empty() ? std::span<const Real>() : std::span<const Real>(cells_.weights[mode]);
  }

  Array<Real> ridges_of(int mode) const {
    const auto counts = kernels::count_cells<Real>(cells_.tree(mode), weights(mode), x_.num_rows(mode));
    Array<Real> ridges(counts.size());
    const double unit = std::pow(options_.unit, 2 - 2.0 / x_.order());
    for (std::size_t i = 0; i < counts.size(); ++i)
      ridges[i] =
          Real(unit * (options_.shrinkage.per_rating * double(counts[i]) + options_.shrinkage.per_row));
    return ridges;
  }

  kernels::RowSystems<Real> systems(int mode) const {
    return {.tree = cells_.tree(mode),
            .weights = weights(mode),
            .loss = loss_,
            .num_factors = options_.num_components,
            .ridge = ridges_[mode],
            .bias_ridge = options_.shrinkage.per_row,
            .range = options_.range,
            .cg_steps = options_.cg_steps};
  }

  void update(int mode) {
    timings_.measure("solve", [&] {
      auto of_mode = systems(mode);
      const auto others = kernels::hadamard_except(grams_, mode);
      of_mode.gram = &others;
      kernels::solve_rows<Real>(of_mode, factors_);
    });
    timings_.measure("communicate", [&] { exchanges_[mode].start_expanding(); });
    auto gram = timings_.measure("solve", [&] { return kernels::gram(factors_[mode], x_.num_owned(mode)); });
    timings_.measure("communicate", [&] {
      x_.comm().all_reduce(gram.flat());
      exchanges_[mode].finish_expanding();
    });
    grams_[mode] = std::move(gram);
  }

  Sweep measure() const {
    const int mode = mode_order_.back();
    const auto errors = sum_over(x_.comm(), kernels::measure_cells<Real>(systems(mode), factors_));
    Sweep sweep;
    sweep.cell_loss = errors.loss;
    if (loss_.has_background())
      sweep.cell_loss += loss_.background * kernels::sum_of_entries(kernels::hadamard_except(grams_, -1));
    sweep.loss = sweep.cell_loss + x_.comm().all_reduce(own_penalty());
    if (!std::isfinite(sweep.loss)) fit_from<Real>(sweep.loss);  // throws
    sweep.train = figures_of(errors.train);
    sweep.train_squares = errors.train.squares;
    if (errors.test.count > 0) sweep.test = figures_of(errors.test);
    return sweep;
  }

  // The regularisation of the rows that this process owns.
  double own_penalty() const {
    double sum = 0;
    for (int m = 0; m < x_.order(); ++m)
      for (Index i = 0; i < x_.num_owned(m); ++i) {
        const auto row = factors_[m].row(i);
        double squares = 0;
        for (Index r = 0; r < options_.num_components; ++r) squares += double(row[r]) * double(row[r]);
        sum += double(ridges_[m][i]) * squares;
        if (!options_.has_biases) continue;
        const auto bias = double(row[options_.num_components + m]);
        sum += options_.shrinkage.per_row * bias * bias;
      }
    return sum;
  }

  const ObservedTensor<Real>& cells_;
  const DistTensor<Real>& x_;
  const ObservedOptions& options_;
  std::vector<int> mode_order_;
  kernels::CellLoss loss_;
  std::vector<Matrix<Real>> factors_;
  std::vector<Matrix<double>> grams_;
  std::vector<Array<Real>> ridges_;  // [mode][row]
  Matrix<Real> nothing_;             // no partial rows: nothing is folded
  std::vector<RowExchange<Real>> exchanges_;
  Traffic sent_before_;  // before the first sweep
  int num_sweeps_ = 0;
  Timings timings_;
};

// The sweep with the lowest held-out error so far, with its rows.
template <class Real>
class BestSweep {
 public:
  explicit BestSweep(int patience) : patience_(patience) {}

  bool is_in_use(const Sweep& sweep) const { return patience_ > 0 && sweep.test; }
  // Whether to go on.
  bool offer(const Sweep& sweep, const ObservedSweeps<Real>& sweeps) {
    if (!is_in_use(sweep)) return true;
    if (number_ == 0 || sweep.test->rmse < lowest_) {
      const bool counts = number_ == 0 || sweep.test->rmse < lowest_ * (1 - least_fall);
      since_ = counts ? 0 : since_ + 1;
      number_ = sweep.number;
      lowest_ = sweep.test->rmse;
      rows_ = sweeps.owned_rows();
      grams_ = sweeps.grams();
    } else {
      ++since_;
    }
    return since_ < patience_;
  }
  int number() const { return number_; }
  void move_to(ObservedResult<Real>& result) {
    result.factors = std::move(rows_);
    result.grams = std::move(grams_);
    result.best_sweep = number_;
  }

 private:
  int patience_;
  int number_ = 0, since_ = 0;
  double lowest_ = 0;
  std::vector<Matrix<Real>> rows_;
  std::vector<Matrix<double>> grams_;
};

bool has_settled(const std::vector<Sweep>& sweeps, double tolerance) {
  if (sweeps.size() < 2 || tolerance <= 0) return false;
  const double before = sweeps[sweeps.size() - 2].loss, now = sweeps.back().loss;
  return std::abs(before - now) <= tolerance * std::abs(now);
}

}  // namespace

template <class Real>
const CsfTree<Real>& ObservedTensor<Real>::tree(int mode) const {
  const auto& trees = std::get<CsfTensor<Real>>(x.local(mode)).trees;
  return *std::ranges::find_if(trees, [&](const auto& tree) { return tree.modes()[0] == mode; });
}

template <class Real>
ObservedResult<Real> observed_als(const ObservedTensor<Real>& x, const ObservedOptions& options,
                                  const SweepObserver& observe, const Kruskal<Real>* start) {
  ObservedResult<Real> result;
  ObservedSweeps<Real> sweeps(x, options, start);
  BestSweep<Real> best(options.patience);
  if (options.approaches && start == nullptr && options.max_iterations > 0)
    result.timings.measure("start", [&] { sweeps.approach(); });
  while (std::ssize(result.sweeps) < options.max_iterations) {
    const Stopwatch watch;
    auto sweep = sweeps.sweep();
    sweep.number = int(result.sweeps.size()) + 1;
    sweep.seconds = watch.seconds();
    result.sweeps.push_back(sweep);
    const bool improves = best.offer(sweep, sweeps);
    if (observe && !observe(sweep)) {
      result.stop = StopReason::observer;
      break;
    }
    result.has_settled = has_settled(result.sweeps, options.tolerance);
    if (!improves || result.has_settled) {
      result.stop = StopReason::converged;
      break;
    }
  }
  result.communication =
      check_traffic(x.x.comm(), sweeps.sent(), sweeps.num_sweeps(), x.x.volume_rows() * sweeps.num_columns());
  for (const auto& [phase, seconds] : sweeps.timings().phases()) result.timings.add(phase, seconds);
  result.best_sweep = int(result.sweeps.size());
  if (best.number() > 0) {
    best.move_to(result);
    return result;
  }
  result.factors = sweeps.owned_rows();
  result.grams = sweeps.grams();
  return result;
}

template struct ObservedTensor<float>;
template struct ObservedTensor<double>;
template ObservedResult<float> observed_als(const ObservedTensor<float>&, const ObservedOptions&,
                                            const SweepObserver&, const Kruskal<float>*);
template ObservedResult<double> observed_als(const ObservedTensor<double>&, const ObservedOptions&,
                                             const SweepObserver&, const Kruskal<double>*);

}  // namespace polyad
