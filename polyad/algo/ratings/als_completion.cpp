#include "polyad/algo/ratings/als_completion.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "polyad/algo/cp/prepare_cells.hpp"

namespace polyad {
namespace {

// Of the ratings of all processes. Collective.
struct RatingMoments {
  double mean = 0, scale = 1, deviation = 1;
};
RatingMoments moments_of(const Comm& comm, std::span<const double> ratings, bool centres) {
  constexpr double equal_deviation = 1e-12;  // of equal ratings rounding may leave a deviation
  double sum = 0, squares = 0;
  const auto count = double(comm.all_reduce(std::ssize(ratings)));
  for (const double rating : ratings) sum += rating;
  const double mean = centres ? comm.all_reduce(sum) / count : 0;
  for (const double rating : ratings) squares += (rating - mean) * (rating - mean);
  const double deviation = std::sqrt(comm.all_reduce(squares) / count);
  const bool is_spread = deviation > equal_deviation * std::max(1.0, std::abs(mean));
  return {mean, is_spread ? deviation : 1, is_spread ? deviation : 0};
}

// Collective; 1 where all are zero.
double mean_magnitude_of(const Comm& comm, std::span<const double> ratings) {
  double sum = 0;
  for (const double rating : ratings) sum += std::abs(rating);
  const double count = double(comm.all_reduce(std::ssize(ratings))), all = comm.all_reduce(sum);
  return all > 0 ? all / count : 1;
}

// Training and test ratings as cells of one tensor, so that the rows of both are exchanged; and the weights
// of these cells.
struct RatingCells {
  SparseTensor<double> values, weights;
};
RatingCells cells_of(SplitRatings own) {
  RatingCells cells{std::move(own.train), {}};
  auto& values = cells.values;
  const Index num_train = values.num_nonzeros();
  for (Index z = 0; z < own.test.num_nonzeros(); ++z)
    values.append(std::array{own.test.indices(0)[z], own.test.indices(1)[z]}, own.test.values()[z]);
  cells.weights = values;
  for (Index z = 0; z < values.num_nonzeros(); ++z) cells.weights.values()[z] = z < num_train ? 1 : -1;
  return cells;
}

// Values of implicit feedback are not predicted.
constexpr ErrorFigures no_errors{std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::quiet_NaN()};

ErrorFigures in_units(const ErrorFigures& errors, double scale) {
  return {errors.rmse * scale, errors.mae * scale};
}

EpochRecord record_of(const Sweep& sweep, double scale, bool is_implicit) {
  EpochRecord record;
  record.epoch = sweep.number;
  record.loss = sweep.loss;
  record.train = is_implicit ? no_errors : in_units(sweep.train, scale);
  if (sweep.test && !is_implicit) record.test = in_units(*sweep.test, scale);
  record.seconds = sweep.seconds;
  return record;
}

CompletionStop stop_of(StopReason stop) {
  switch (stop) {
    case StopReason::converged:
      return CompletionStop::settled;
    case StopReason::test_error:
      return CompletionStop::test_error;
    case StopReason::iteration_limit:
      return CompletionStop::epochs;
    case StopReason::observer:
      return CompletionStop::observer;
    case StopReason::interrupted:
      return CompletionStop::interrupted;
    case StopReason::time_limit:
      return CompletionStop::time_limit;
  }
  return CompletionStop::epochs;
}

ObservedOptions observed_options(const AlsCompletionOptions& options) {
  ObservedOptions observed;
  observed.num_components = options.num_factors;
  observed.max_iterations = options.max_sweeps;
  observed.tolerance = options.tolerance;
  observed.cg_steps = options.cg_steps;
  observed.seed = options.seed;
  observed.gpu = options.gpu;
  observed.start = Start::normal;
  observed.shrinkage = options.shrinkage;
  observed.mode_of_items = 1;
  observed.bias_shrinkage = {0, options.shrinkage.per_row};
  observed.has_biases = options.has_biases;
  observed.patience = options.alpha ? 0 : options.patience;  // errors say nothing about implicit feedback
  observed.mode_order = {1, 0};  // items are seen by more users than users see items: they settle first
  if (options.alpha) observed.loss = {kernels::CellLoss::Kind::confidence, *options.alpha, 1};
  return observed;
}

}  // namespace

template <class Real>
AlsCompletionResult<Real> als_completion(const Comm& comm, SplitRatings own,
                                         const AlsCompletionOptions& options, Progress& progress,
                                         const CompletionObserver& observe,
                                         const ControlSweeps<Real>& control) {
  AlsCompletionResult<Real> result;
  if (options.alpha) result.train = no_errors;
  const auto moments =
      options.alpha ? RatingMoments{} : moments_of(comm, own.train.values(), options.has_biases);
  result.mean = moments.mean;
  result.scale = moments.scale;
  result.deviation = moments.deviation;
  const double mean_magnitude = mean_magnitude_of(comm, own.train.values());
  if (options.alpha) own.test = SparseTensor<double>(own.train.extents());
  auto cells = cells_of(std::move(own));
  const double unit = options.alpha ? mean_magnitude : moments.scale;
  for (double& value : cells.values.values()) value = (value - moments.mean) / unit;
  const bool has_tests = comm.all_reduce(Index(std::ranges::count(cells.weights.values(), -1.0))) > 0;

  Distribution distribution;
  if (comm.size() > 1)
    distribution = Distributor(comm, cells.values, comm.size(), options.seed).coarse_random();
  const auto prepared = prepare_cells<Real>(comm, std::move(cells.values),
                                            has_tests ? std::move(cells.weights) : SparseTensor<double>(),
                                            progress, distribution, options.num_factors);
  Index num_new = 0;
  double last_rmse = 0;  // of implicit feedback there is none
  const auto note = [&](const Sweep& sweep) {
    ++num_new;
    const auto record = record_of(sweep, moments.scale, options.alpha.has_value());
    if (!options.alpha) last_rmse = record.train.rmse;
    return !observe || observe(record);
  };
  const auto given = control ? control(prepared.tensor) : CpControl<Real>{};
  auto with_rmse = given;
  if (given.pause)
    with_rmse.pause = [&](CpPause<Real> pause) {
      pause.fit = last_rmse;
      return given.pause(pause);
    };
  auto observed = observed_options(options);
  if (options.range)
    observed.range = {(options.range->least - moments.mean) / moments.scale,
                      (options.range->largest - moments.mean) / moments.scale};
  auto model = observed_als<Real>({prepared.tensor, prepared.weights}, observed, note, nullptr, with_rmse);
  for (const auto& sweep : model.sweeps)
    result.epochs.push_back(record_of(sweep, moments.scale, options.alpha.has_value()));
  result.num_restored = std::ssize(result.epochs) - num_new;
  result.best_epoch = model.best_sweep;
  result.stop = stop_of(model.stop);
  if (result.best_epoch > 0) {
    result.train = result.epochs[result.best_epoch - 1].train;
    result.test = result.epochs[result.best_epoch - 1].test;
  }
  for (int m = 0; m < 2; ++m) {
    const auto rows = prepared.tensor.rows(m).first(std::size_t(prepared.tensor.num_owned(m)));
    result.rows.emplace_back(rows.begin(), rows.end());
  }
  result.factors = std::move(model.factors);
  result.communication = model.communication;
  const auto& seconds = model.timings;
  result.seconds = {seconds.seconds("solve"), seconds.seconds("communicate") + seconds.seconds("upload"), 0,
                    seconds.seconds("measure")};
  return result;
}

template <class Real>
RatingModel<Real> gather_model(const Comm& comm, const AlsCompletionResult<Real>& result, Index num_users,
                               Index num_items, const AlsCompletionOptions& options) {
  RatingModel<Real> model;
  model.mean = result.mean;
  const auto unit = Real(std::sqrt(result.scale));
  for (int m = 0; m < 2; ++m) {
    const auto rows = comm.gather_varying<Index>(result.rows[m], 0);
    const auto words = comm.gather_varying<Real>(result.factors[m].flat(), 0);
    if (comm.rank() != 0) continue;
    auto& factors = m == 0 ? model.users : model.items;
    auto& biases = m == 0 ? model.user_biases : model.item_biases;
    factors = Matrix<Real>(m == 0 ? num_users : num_items, options.num_factors);
    if (options.has_biases) biases.assign(std::size_t(factors.num_rows()), Real(0));
    const Real* row = words.items.data();
    for (const Index i : rows.items) {
      std::transform(row, row + options.num_factors, factors.row(i).begin(),
                     [&](Real x) { return unit * x; });
      if (options.has_biases) biases[i] = Real(result.scale) * row[options.num_factors + m];
      row += result.factors[m].num_cols();
    }
  }
  return model;
}

template AlsCompletionResult<float> als_completion(const Comm&, SplitRatings, const AlsCompletionOptions&,
                                                   Progress&, const CompletionObserver&,
                                                   const ControlSweeps<float>&);
template AlsCompletionResult<double> als_completion(const Comm&, SplitRatings, const AlsCompletionOptions&,
                                                    Progress&, const CompletionObserver&,
                                                    const ControlSweeps<double>&);
template RatingModel<float> gather_model(const Comm&, const AlsCompletionResult<float>&, Index, Index,
                                         const AlsCompletionOptions&);
template RatingModel<double> gather_model(const Comm&, const AlsCompletionResult<double>&, Index, Index,
                                          const AlsCompletionOptions&);

}  // namespace polyad
