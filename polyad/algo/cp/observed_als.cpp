#include "polyad/algo/cp/observed_als.hpp"

#include <cmath>
#include <utility>

#include "polyad/algo/cp/observed_sweeps.hpp"

namespace polyad {
namespace {

constexpr double least_fall = 1e-4;  // of the held-out error, for a sweep to count as better

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

// Why no further sweep follows, where neither an observer nor their number is the reason.
StopReason reason_of_end(bool has_settled) {
  return has_settled ? StopReason::converged : StopReason::test_error;
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
ObservedResult<Real> observed_als(const ObservedTensor<Real>& x, const ObservedOptions& options,
                                  const SweepObserver& observe, const Kruskal<Real>* start,
                                  const CpControl<Real>& control) {
  ObservedResult<Real> result;
  ObservedSweeps<Real> sweeps(x, options, start, control.ask);
  BestSweep<Real> best(options.patience);
  if (control.from != nullptr)
    restore(*control.from, result, sweeps, best);
  else if (options.approaches && start == nullptr && options.max_iterations > 0)
    result.timings.measure("start", [&] { sweeps.approach(); });
  bool is_settled = has_settled(result.sweeps, options.tolerance);
  bool has_ended = is_settled || !best.goes_on();
  if (has_ended) result.stop = reason_of_end(is_settled);
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
    is_settled = has_settled(result.sweeps, options.tolerance);
    has_ended = !goes_on || !improves || is_settled;
    if (has_ended) result.stop = goes_on ? reason_of_end(is_settled) : StopReason::observer;
    if (!control.pause) continue;
    const bool is_end = has_ended || std::ssize(result.sweeps) == options.max_iterations;
    const auto cut_short = control.pause({sweep.number, 0, is_end, save, sweeps.asked()});
    if (is_end || !cut_short) continue;
    result.stop = *cut_short;
    has_ended = true;
  }
  result.communication = check_traffic(x.x.comm(), sweeps.sent(), sweeps.num_sweeps(), sweeps.planned());
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

template ObservedResult<float> observed_als(const ObservedTensor<float>&, const ObservedOptions&,
                                            const SweepObserver&, const Kruskal<float>*,
                                            const CpControl<float>&);
template ObservedResult<double> observed_als(const ObservedTensor<double>&, const ObservedOptions&,
                                             const SweepObserver&, const Kruskal<double>*,
                                             const CpControl<double>&);

}  // namespace polyad
