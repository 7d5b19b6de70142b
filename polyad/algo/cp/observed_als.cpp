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
    const bool prefers_uniform =
        has_values && !options.has_biases &&
        prefers_uniform_start(x_.num_negative(), x_.num_nonzeros(), options.nonnegative);
    const auto random = random_start(options, prefers_uniform);
    // Values of the model are about as large as those of the tensor.
    const double size = std::pow(options.unit / std::sqrt(double(options.num_components)), 1.0 / order);
    for (int m = 0; m < order; ++m) {
      auto& factor = factors_.emplace_back(x_.num_rows(m), num_columns());
      kernels::fill_with_start(factor, options.num_components, random, m, x_.rows(m));
      for (Real& entry : factor.flat()) entry *= Real(size);
      if (start != nullptr) start_from(*start, m);
      if (is_nonnegative(m)) kernels::make_nonnegative(factor);
      start_biases(m);
      grams_.push_back(kernels::gram(factor, x_.num_owned(m)));
      x_.comm().all_reduce(grams_.back().flat());
      const auto counts = counts_of(m);
      const auto shrinkage = m == options.mode_of_items ? options.shrinkage.for_items() : options.shrinkage;
      ridges_.push_back(ridges_for(counts, shrinkage, std::pow(options.unit, 2 - 2.0 / order)));
      bias_ridges_.push_back(ridges_for(counts, options.bias_shrinkage, 1));
    }
    connect();
    if (start == nullptr) return;
    expand_all(exchanges_);
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
    const auto ridges = ridges_, bias_ridges = bias_ridges_;
    for (auto* all :
         {&ridges_, &bias_ridges_})  // zeros make the model small, and regularisation would end it
      for (auto& of_mode : *all) std::ranges::fill(of_mode, Real{});
    for (int i = 0; i < num_full + num_fading; ++i) {
      if (!options_.loss.has_background())
        loss_.background = i < num_full ? 1 : std::exp2(-double(i - num_full + 1));
      for (const int mode : mode_order_) update(mode);
      ++num_sweeps_;
    }
    loss_ = options_.loss;
    ridges_ = ridges;
    bias_ridges_ = bias_ridges;
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

  void save(CpState<Real>& state) {
    for (const auto& of_mode : grams_) state.numbers.put_list(of_mode.flat());
    state.vectors.push_back(own_rows());
    state.num_columns = num_columns();
  }
  // Returns the rows to be filled; afterwards has_been_filled() is called.
  kernels::FactorVector<Real> restore(StateNumbers& numbers) {
    for (auto& of_mode : grams_) numbers.take_list(of_mode.flat());
    return own_rows();
  }
  void has_been_filled() {
    expand_all(exchanges_);
    sent_before_ = sent_by(exchanges_) + sent_by(folds_);
  }
  std::vector<Index> num_owned() const {
    std::vector<Index> counts;
    for (int m = 0; m < x_.order(); ++m) counts.push_back(x_.num_owned(m));
    return counts;
  }
  Index num_columns() const { return options_.num_components + (options_.has_biases ? x_.order() : 0); }
  int num_sweeps() const { return num_sweeps_; }  // those of approach() included
  Traffic sent() const { return sent_by(exchanges_) + sent_by(folds_) - sent_before_; }
  // By all processes in a sweep, computed from the distribution: a row that is borrowed is sent once, and
  // where systems are folded, its system once.
  Index predicted_words() const {
    bool folds = false;
    for (int m = 0; m < x_.order(); ++m) folds = folds || x_.folds(m);
    return folds ? x_.volume_rows() / 2 * (num_columns() + words()) : x_.volume_rows() * num_columns();
  }
  const Timings& timings() const { return timings_; }

 private:
  kernels::FactorVector<Real> own_rows() { return kernels::first_rows_of<Real>(factors_, num_owned()); }

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
    if (options_.start_biases.empty()) return;
    for (Index i = 0; i < x_.num_owned(mode); ++i)
      factor(i, options_.num_components + mode) = Real(options_.start_biases[mode][i]);
  }

  bool is_nonnegative(int mode) const { return !options_.nonnegative.empty() && options_.nonnegative[mode]; }
  Index words() const { return kernels::words_of_system(options_.num_components, options_.has_biases); }
  bool has_tree(int mode) const { return cells_.cells(mode).tree != nullptr; }

  // Rows before this one are solved for at once, if a tree has them; the systems of the others are added up.
  Index first_sum(int mode) const { return has_tree(mode) ? x_.num_complete(mode) : 0; }
  Index end_sum(int mode) const { return x_.folds(mode) ? x_.num_rows(mode) : x_.num_owned(mode); }

  // The systems that are added up have a place for one mode at a time.
  void connect() {
    Index max_sums = 0, max_words = 0;
    for (int m = 0; m < x_.order(); ++m) {
      max_sums = std::max(max_sums, end_sum(m) - first_sum(m));
      if (x_.folds(m))
        max_words =
            std::max(max_words, RowExchange<Real>::num_words_under_way(x_.exchange(m), words(), words()));
    }
    sums_ = Matrix<Real>(max_sums, words());
    under_way_ = SharedArray<Real>(x_.comm(), max_words);
    for (int m = 0; m < x_.order(); ++m) {
      exchanges_.emplace_back(
          x_.comm(), x_.exchange(m),
          typename RowExchange<Real>::Rows{
              .partial = nothing_, .factor = factors_[m], .num_components = num_columns(), .folds = false},
          m);
      fold_of_mode_.push_back(folds_.size());
      if (!x_.folds(m)) continue;
      sums_.set_num_rows(end_sum(m) - first_sum(m));
      folds_.emplace_back(x_.comm(), x_.exchange(m),
                          typename RowExchange<Real>::Rows{.partial = sums_,
                                                           .factor = sums_,
                                                           .num_components = words(),
                                                           .first_partial = first_sum(m),
                                                           .buffer = &under_way_,
                                                           .expands = false},
                          m);
    }
  }

  // [row]: number of cells that count, right for the rows that this process owns. Collective.
  Array<Index> counts_of(int mode) const {
    auto counts = kernels::count_cells<Real>(cells(mode), end_sum(mode));
    if (!x_.folds(mode)) return counts;
    Matrix<double> column(std::ssize(counts), 1);
    std::ranges::copy(counts, column.flat().begin());
    RowExchange<double>(x_.comm(), x_.exchange(mode),
                        {.partial = column, .factor = column, .num_components = 1, .expands = false}, mode)
        .fold();
    std::ranges::transform(column.flat(), counts.begin(), [](double count) { return Index(count); });
    return counts;
  }
  static Array<Real> ridges_for(const Array<Index>& counts, const Shrinkage& shrinkage, double unit) {
    Array<Real> ridges(counts.size());
    std::ranges::transform(counts, ridges.begin(), [&](Index count) {
      return Real(unit * (shrinkage.per_rating * double(count) + shrinkage.per_row));
    });
    return ridges;
  }

  kernels::RowSystems<Real> cells(int mode) const {
    auto cells = cells_.cells(mode);
    if (!cells_.weights.empty()) cells.weights = cells_.weights[mode];
    return cells;
  }
  kernels::RowSystems<Real> systems(int mode) const {
    auto systems = cells(mode);
    systems.loss = loss_;
    systems.offset = options_.offset;
    systems.num_factors = options_.num_components;
    systems.ridge = ridges_[mode];
    systems.bias_ridge = bias_ridges_[mode];
    systems.is_nonnegative = is_nonnegative(mode);
    systems.range = options_.range;
    systems.cg_steps = options_.cg_steps;
    return systems;
  }

  void update(int mode) {
    timings_.measure("solve", [&] {
      auto of_mode = systems(mode);
      const auto others = kernels::hadamard_except(grams_, mode);
      of_mode.gram = &others;
      solve(of_mode, mode);
    });
    timings_.measure("communicate", [&] { exchanges_[mode].start_expanding(); });
    auto gram = timings_.measure("solve", [&] { return kernels::gram(factors_[mode], x_.num_owned(mode)); });
    timings_.measure("communicate", [&] {
      x_.comm().all_reduce(gram.flat());
      exchanges_[mode].finish_expanding();
    });
    grams_[mode] = std::move(gram);
  }

  // Systems of rows that others have cells of are under way while those of the other rows are solved.
  void solve(const kernels::RowSystems<Real>& of_mode, int mode) {
    const Index first = first_sum(mode), end = end_sum(mode);
    const bool adds_up = x_.folds(mode) || end > first;  // the same on all processes where rows are folded
    if (adds_up) {
      sums_.set_num_rows(end - first);
      kernels::sum_systems<Real>(of_mode, factors_, first, sums_);
      if (x_.folds(mode)) folds_[fold_of_mode_[mode]].start_folding();
    }
    if (first > 0) kernels::solve_rows<Real>(of_mode, factors_, first);
    if (!adds_up) return;
    if (x_.folds(mode)) folds_[fold_of_mode_[mode]].finish_folding();
    kernels::solve_sums<Real>(of_mode, sums_, first, x_.num_owned(mode), factors_);
  }

  // A mode whose cells can be visited in the order in which they are stored.
  int mode_to_measure() const {
    const int last = mode_order_.back();
    const auto* csf = std::get_if<CsfTensor<Real>>(&x_.local(last));
    return csf == nullptr || has_tree(last) ? last : csf->trees.front().modes()[0];
  }

  Sweep measure() const {
    const int mode = mode_to_measure();
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
        sum += double(bias_ridges_[m][i]) * bias * bias;
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
  std::vector<Array<Real>> ridges_, bias_ridges_;  // [mode][row]
  Matrix<Real> nothing_;                           // no partial rows: systems are folded instead
  std::vector<RowExchange<Real>> exchanges_;
  Matrix<Real> sums_;                      // systems of the mode under way, see words_of_system()
  SharedArray<Real> under_way_;            // buffer of the fold in progress
  std::vector<RowExchange<Real>> folds_;   // of modes that are folded
  std::vector<std::size_t> fold_of_mode_;  // [mode]: its place there
  Traffic sent_before_;                    // before the first sweep
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
    return goes_on();
  }
  int number() const { return number_; }

  void save(CpState<Real>& state, const std::vector<Index>& num_owned) {
    for (const double number : {double(number_), double(since_), lowest_}) state.numbers.put(number);
    if (number_ == 0) return;
    for (const auto& of_mode : grams_) state.numbers.put_list(of_mode.flat());
    state.vectors.push_back(kernels::first_rows_of<Real>(rows_, num_owned));
  }
  // Adds the rows to be filled, if there are any.
  void restore(StateNumbers& numbers, const ObservedSweeps<Real>& sweeps,
               std::vector<kernels::FactorVector<Real>>& vectors) {
    number_ = numbers.take_int();
    since_ = numbers.take_int();
    lowest_ = numbers.take();
    if (number_ == 0) return;
    rows_ = sweeps.owned_rows();
    grams_ = sweeps.grams();
    for (auto& of_mode : grams_) numbers.take_list(of_mode.flat());
    vectors.push_back(kernels::first_rows_of<Real>(rows_, sweeps.num_owned()));
  }

  bool goes_on() const { return patience_ == 0 || since_ < patience_; }
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

void put_sweeps(StateNumbers& numbers, const std::vector<Sweep>& sweeps) {
  numbers.put(double(sweeps.size()));
  for (const auto& sweep : sweeps) {
    const auto test = sweep.test.value_or(ErrorFigures{});
    for (const double number :
         {sweep.loss, sweep.cell_loss, sweep.train.rmse, sweep.train.mae, double(sweep.test.has_value()),
          test.rmse, test.mae, sweep.train_squares, sweep.seconds})
      numbers.put(number);
  }
}

std::vector<Sweep> take_sweeps(StateNumbers& numbers) {
  std::vector<Sweep> sweeps;
  const double count = numbers.take();
  while (double(sweeps.size()) < count) {
    Sweep sweep;
    sweep.number = int(sweeps.size()) + 1;
    sweep.loss = numbers.take();
    sweep.cell_loss = numbers.take();
    sweep.train.rmse = numbers.take();
    sweep.train.mae = numbers.take();
    const bool has_test = numbers.take() != 0;
    ErrorFigures test;
    test.rmse = numbers.take();
    test.mae = numbers.take();
    if (has_test) sweep.test = test;
    sweep.train_squares = numbers.take();
    sweep.seconds = numbers.take();
    sweeps.push_back(sweep);
  }
  return sweeps;
}

template <class Real>
void restore(CpRestart<Real>& from, ObservedResult<Real>& result, ObservedSweeps<Real>& sweeps,
             BestSweep<Real>& best) {
  result.sweeps = take_sweeps(from.numbers);
  std::vector<kernels::FactorVector<Real>> vectors{sweeps.restore(from.numbers)};
  best.restore(from.numbers, sweeps, vectors);
  from.fill(vectors, sweeps.num_columns());
  sweeps.has_been_filled();
}

}  // namespace

template <class Real>
kernels::RowSystems<Real> ObservedTensor<Real>::cells(int mode) const {
  const auto& local = x.local(mode);
  if (const auto* csf = std::get_if<CsfTensor<Real>>(&local))
    for (const auto& tree : csf->trees)
      if (tree.modes()[0] == mode) return {.tree = &tree};
  return {.cells = &local, .mode_of_cells = mode};
}

template <class Real>
ObservedResult<Real> observed_als(const ObservedTensor<Real>& x, const ObservedOptions& options,
                                  const SweepObserver& observe, const Kruskal<Real>* start,
                                  const CpControl<Real>& control) {
  ObservedResult<Real> result;
  ObservedSweeps<Real> sweeps(x, options, start);
  BestSweep<Real> best(options.patience);
  if (control.from != nullptr)
    restore(*control.from, result, sweeps, best);
  else if (options.approaches && start == nullptr && options.max_iterations > 0)
    result.timings.measure("start", [&] { sweeps.approach(); });
  result.has_settled = has_settled(result.sweeps, options.tolerance);
  bool has_ended = result.has_settled || !best.goes_on();
  if (has_ended) result.stop = StopReason::converged;
  const auto save = [&](CpState<Real>& state) {
    put_sweeps(state.numbers, result.sweeps);
    sweeps.save(state);
    best.save(state, sweeps.num_owned());
  };
  while (!has_ended && std::ssize(result.sweeps) < options.max_iterations) {
    const Stopwatch watch;
    auto sweep = sweeps.sweep();
    sweep.number = int(result.sweeps.size()) + 1;
    sweep.seconds = watch.seconds();
    result.sweeps.push_back(sweep);
    const bool improves = best.offer(sweep, sweeps);
    const bool goes_on = !observe || observe(sweep);
    result.has_settled = has_settled(result.sweeps, options.tolerance);
    has_ended = !goes_on || !improves || result.has_settled;
    if (has_ended) result.stop = goes_on ? StopReason::converged : StopReason::observer;
    if (!control.pause) continue;
    const bool is_end = has_ended || std::ssize(result.sweeps) == options.max_iterations;
    const auto cut_short = control.pause({sweep.number, 0, is_end, save});
    if (is_end || !cut_short) continue;
    result.stop = *cut_short;
    has_ended = true;
  }
  result.communication =
      check_traffic(x.x.comm(), sweeps.sent(), sweeps.num_sweeps(), sweeps.predicted_words());
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
                                            const SweepObserver&, const Kruskal<float>*,
                                            const CpControl<float>&);
template ObservedResult<double> observed_als(const ObservedTensor<double>&, const ObservedOptions&,
                                             const SweepObserver&, const Kruskal<double>*,
                                             const CpControl<double>&);

}  // namespace polyad
