#include "polyad/algo/cp/run_cp.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "polyad/algo/cp/cp_biases.hpp"
#include "polyad/algo/cp/cp_opt.hpp"
#include "polyad/algo/cp/finish_model.hpp"
#include "polyad/algo/cp/observed_als.hpp"
#include "polyad/kernels/cp/row_systems.hpp"

namespace polyad {
namespace {

// The sum of weight * term(value) over all cells that are not held out. Collective.
template <class Real, class Term>
double sum_over_known(const PreparedTensor<Real>& x, Term term) {
  const auto values = kernels::cell_values(ObservedTensor<Real>{x.tensor}.cells(0));
  double sum = 0;
  for (std::size_t z = 0; z < values.size(); ++z) {
    const double weight = x.weights.empty() ? 1 : double(x.weights[0][z]);
    if (weight > 0) sum += weight * term(double(values[z]));
  }
  return x.tensor.comm().all_reduce(sum);
}

// How the mean of all cells that are not held out predicts those that are. Collective.
template <class Real>
double held_out_rmse_of_mean(const PreparedTensor<Real>& x) {
  const double sum_of_weights = sum_over_known(x, [](double) { return 1.0; });
  const double mean =
      sum_over_known(x, [](double value) { return value; }) / std::max(sum_of_weights, 1e-300);
  const auto values = kernels::cell_values(ObservedTensor<Real>{x.tensor}.cells(0));
  double squares = 0;
  Index count = 0;
  for (std::size_t z = 0; z < values.size(); ++z)
    if (x.weights[0][z] < 0) {
      squares += (double(values[z]) - mean) * (double(values[z]) - mean);
      ++count;
    }
  squares = x.tensor.comm().all_reduce(squares);
  count = x.tensor.comm().all_reduce(count);
  return count == 0 ? 0 : std::sqrt(squares / double(count));
}

// Alpha for the values of the tensor as they are.
template <class Real>
double alpha_for(const PreparedTensor<Real>& x, double alpha) {
  const double sum = sum_over_known(x, [](double value) { return std::abs(value); });
  return sum > 0 ? alpha * sum_over_known(x, [](double) { return 1.0; }) / sum : 0;
}

// What the factors explain is then how values differ from their mean.
template <class Real>
void add_biases(const PreparedTensor<Real>& x, const ObservedRun& run, ObservedOptions& observed) {
  constexpr double equal_deviation = 1e-12;  // of equal values rounding may leave a deviation
  const double sum_of_weights = sum_over_known(x, [](double) { return 1.0; });
  if (sum_of_weights > 0)
    observed.offset = sum_over_known(x, [](double value) { return value; }) / sum_of_weights;
  const double squares =
      sum_over_known(x, [&](double value) { return (value - observed.offset) * (value - observed.offset); });
  const double deviation = sum_of_weights > 0 ? std::sqrt(squares / sum_of_weights) : 0;
  if (deviation > equal_deviation * std::abs(observed.offset)) observed.unit = deviation;
  observed.has_biases = true;
  observed.start_biases = run.start_biases;
  for (auto& of_mode : observed.start_biases)
    for (double& bias : of_mode) bias /= x.tensor.value_scale();
}

// Of the cells that the model learns from, by their weights: one that does not count has no say.
template <class Real>
double mean_square(const PreparedTensor<Real>& x) {
  if (x.weights.empty()) return x.tensor.squared_norm() / std::max(1.0, double(x.tensor.num_nonzeros()));
  const double sum_of_weights = sum_over_known(x, [](double) { return 1.0; });
  return sum_of_weights > 0 ? sum_over_known(x, [](double value) { return value * value; }) / sum_of_weights
                            : 0;
}

template <class Real>
ObservedOptions observed_options_for(const PreparedTensor<Real>& x, const CpRunOptions& options) {
  const auto& tensor = x.tensor;
  const auto& run = *options.observed;
  ObservedOptions observed;
  static_cast<CpOptions&>(observed) = options.als;
  observed.shrinkage = {run.regularisation, run.per_row};
  observed.bias_shrinkage = {run.regularisation, 0};
  observed.nonnegative = options.als.nonnegative;
  observed.mode_order = x.chosen.plan.mode_order;
  observed.gpu = options.als.gpu;
  if (run.alpha) {
    observed.loss = {kernels::CellLoss::Kind::confidence, alpha_for(x, *run.alpha), 1};
    observed.patience = 0;  // preferences of held-out cells say nothing about their values
    observed.approaches = tensor.order() > 2;
    return observed;
  }
  observed.patience = run.patience;
  observed.approaches = tensor.order() > 2;
  observed.unit = std::sqrt(mean_square(x));
  if (run.has_biases) add_biases(x, run, observed);
  if (observed.unit == 0) observed.unit = 1;
  return observed;
}

// The loss of a model that is zero everywhere. Collective.
template <class Real>
double loss_of_nothing(const PreparedTensor<Real>& x, const kernels::CellLoss& loss) {
  if (loss.kind == kernels::CellLoss::Kind::squares)
    return x.weights.empty() ? x.tensor.squared_norm()
                             : sum_over_known(x, [](double value) { return value * value; });
  return sum_over_known(x,
                        [&](double value) { return value > 0 ? loss.background + loss.alpha * value : 0.0; });
}

// The same control, with further numbers that come before the others in a state.
template <class Real, class Put>
CpControl<Real> with_numbers(const CpControl<Real>& control, Put put) {
  if (!control.pause) return control;
  return {control.from,
          [&control, put](const CpPause<Real>& pause) {
            auto with = pause;
            with.save = [&](CpState<Real>& state) {
              put(state.numbers);
              pause.save(state);
            };
            return control.pause(with);
          },
          control.ask};
}

// As a decomposition is described: the fit is that of the observed cells that the model learned from, or by
// the weights of all cells.
template <class Real>
CpResult<Real> observed_cp(const PreparedTensor<Real>& x, const CpRunOptions& options,
                           const CpObserver& observe, const Kruskal<Real>* start,
                           const CpControl<Real>& control) {
  const auto& tensor = x.tensor;
  const auto observed = observed_options_for(x, options);
  const bool is_implicit = options.observed->alpha.has_value();
  const double scale = is_implicit ? 1 : tensor.value_scale();
  CpResult<Real> result;
  const double known = loss_of_nothing(x, observed.loss);
  if (is_implicit) result.weighted_norm = std::sqrt(known);
  const auto fit_of = [&](const Sweep& sweep) {
    return known == 0 ? 1 : fit_from<Real>(sweep.cell_loss / known);
  };
  double last_fit = control.from != nullptr ? control.from->numbers.take() : 0;
  const auto note = [&](const Sweep& sweep) {
    const double fit = fit_of(sweep), change = fit - std::exchange(last_fit, fit);
    return !observe || observe({sweep.number, fit, change});
  };
  const auto with_fit = with_numbers(control, [&](StateNumbers& numbers) { numbers.put(last_fit); });
  auto sweeps_control = with_fit;
  if (with_fit.pause)
    sweeps_control.pause = [&](CpPause<Real> pause) {
      pause.fit = last_fit;
      return with_fit.pause(pause);
    };
  auto model = observed_als<Real>({tensor, x.weights}, observed, note, start, sweeps_control);
  for (const auto& sweep : model.sweeps) {
    result.fit_trajectory.push_back(fit_of(sweep));
    result.iteration_seconds.push_back(sweep.seconds);
    if (sweep.test && !is_implicit) result.held_out_rmse.push_back(sweep.test->rmse * tensor.value_scale());
  }
  if (!result.held_out_rmse.empty())
    result.held_out_rmse_of_mean = held_out_rmse_of_mean(x) * tensor.value_scale();
  result.model_iteration = model.best_sweep;
  result.stop = model.stop;
  result.communication = model.communication;
  result.timings = std::move(model.timings);
  for (const double seconds : result.iteration_seconds) result.timings.add("iterate", seconds);
  const ModelForm form{options.als.num_components, scale, options.als.nonnegative};
  if (!observed.has_biases) {
    result.model = finish_model(tensor, std::move(model.factors), model.grams, form);
    return result;
  }
  auto biases = take_biases(model.factors, model.grams, form.num_components);
  biases.mean = observed.offset;
  result.model = finish_model(tensor, std::move(model.factors), model.grams, form);
  result.empty_rows = append_biases(result.model, biases, tensor.extents(), scale);
  result.mean = observed.offset * scale;
  return result;
}

void put_outcomes(StateNumbers& numbers, const std::vector<StartOutcome>& outcomes) {
  numbers.put(double(outcomes.size()));
  for (const auto& start : outcomes) {
    numbers.put(start.fit);
    numbers.put(start.iterations);
  }
}

std::vector<StartOutcome> take_outcomes(StateNumbers& numbers, std::uint64_t first_seed) {
  std::vector<StartOutcome> outcomes;
  const double count = numbers.take();
  while (double(outcomes.size()) < count) {
    StartOutcome start{first_seed + outcomes.size()};
    start.fit = numbers.take();
    start.iterations = numbers.take_int();
    outcomes.push_back(start);
  }
  return outcomes;
}

}  // namespace

template <class Real>
CpResult<Real> run_cp(const PreparedTensor<Real>& x, const CpRunOptions& options, const CpObserver& observe,
                      const Kruskal<Real>* start, const CpControl<Real>& control) {
  if (options.observed) return observed_cp<Real>(x, options, observe, start, control);
  if (options.method == Method::opt)
    return cp_opt<Real>(x.tensor, x.chosen.plan, options.als, observe, start, control);
  return cp_als<Real>(x.tensor, x.chosen.plan, options.als, observe, start, control);
}

template <class Real>
BestOfStarts<Real> run_starts(const PreparedTensor<Real>& x, CpRunOptions options, int num_starts,
                              const std::function<void(int)>& begin, const CpObserver& observe,
                              const Kruskal<Real>* start_model, const CpControl<Real>& control) {
  BestOfStarts<Real> runs;
  Timings timings;
  const auto first_seed = options.als.seed;
  if (control.from != nullptr) runs.starts = take_outcomes(control.from->numbers, first_seed);
  auto inner = with_numbers(control, [&](StateNumbers& numbers) { put_outcomes(numbers, runs.starts); });
  const bool is_of_first_only = options.als.start == Start::svd;
  const auto run = [&](std::uint64_t seed, const CpObserver& observer) {
    options.als.seed = seed;
    runs.best = {};  // frees its memory first
    runs.best =
        run_cp(x, options, observer, is_of_first_only && seed != first_seed ? nullptr : start_model, inner);
    inner.from = nullptr;
    for (const auto& [phase, seconds] : runs.best.timings.phases()) timings.add(phase, seconds);
  };
  const auto goes_on = [&] {
    return runs.best.stop != StopReason::observer && !is_cut_short(runs.best.stop);
  };
  for (int start = int(runs.starts.size()) + 1; start <= num_starts && goes_on(); ++start) {
    begin(start);
    const auto seed = first_seed + std::uint64_t(start - 1);
    run(seed, [&](CpProgress progress) {
      progress.start = start;
      return observe(progress);
    });
    runs.starts.push_back({seed, runs.best.fit(), runs.best.iterations()});
  }
  const bool is_cut = is_cut_short(runs.best.stop);
  const auto best =
      is_cut ? runs.starts.end() - 1 : std::ranges::max_element(runs.starts, {}, &StartOutcome::fit);
  runs.seed = best->seed;
  if (best + 1 != runs.starts.end()) run(runs.seed, {});
  runs.best.timings = std::move(timings);
  return runs;
}

template CpResult<float> run_cp(const PreparedTensor<float>&, const CpRunOptions&, const CpObserver&,
                                const Kruskal<float>*, const CpControl<float>&);
template CpResult<double> run_cp(const PreparedTensor<double>&, const CpRunOptions&, const CpObserver&,
                                 const Kruskal<double>*, const CpControl<double>&);
template BestOfStarts<float> run_starts(const PreparedTensor<float>&, CpRunOptions, int,
                                        const std::function<void(int)>&, const CpObserver&,
                                        const Kruskal<float>*, const CpControl<float>&);
template BestOfStarts<double> run_starts(const PreparedTensor<double>&, CpRunOptions, int,
                                         const std::function<void(int)>&, const CpObserver&,
                                         const Kruskal<double>*, const CpControl<double>&);

}  // namespace polyad
