#include "polyad/tasks/complete.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "polyad/algo/ratings/als_completion.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/distributed/move_nonzeros.hpp"
#include "polyad/kernels/ratings/model_errors.hpp"
#include "polyad/kernels/ratings/ranking_metrics.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/agreement.hpp"
#include "polyad/tasks/detail/machine_file.hpp"
#include "polyad/tasks/detail/ratings/completion_state.hpp"
#include "polyad/tasks/detail/ratings/hold_out_test.hpp"
#include "polyad/tasks/detail/ratings/prepare_ratings.hpp"
#include "polyad/tasks/detail/ratings/rating_values.hpp"
#include "polyad/tasks/detail/settings.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"
#include "polyad/tasks/detail/values/prepare_values.hpp"

namespace polyad {
namespace {

constexpr Index max_ranking = 10000;

void require_not_negative(const char* field, double value) {
  if (!(value >= 0 && std::isfinite(value)))
    tasks::refuse_option(fmt::format("{} {}: expected 0 or more", option_name(field), value));
}

void check_schedule(const CompleteOptions& options) {
  if (options.learning_rate && !(*options.learning_rate > 0 && std::isfinite(*options.learning_rate)))
    tasks::refuse_option(
        fmt::format("{} {}: expected more than 0", option_name("learning_rate"), *options.learning_rate));
  if (!options.decay) return;
  if (options.schedule != StepSchedule::Kind::inverse)
    tasks::refuse_option(
        fmt::format("{} requires {} inverse", option_name("decay"), option_name("schedule")));
  require_not_negative("decay", *options.decay);
}

// `field`: test or validate.
void check_test(const TestRatings& test, const std::string& field) {
  if (test.kind == TestRatings::Kind::fraction && !(test.fraction > 0 && test.fraction < 1))
    tasks::refuse_option(
        fmt::format("{} {}: expected a share between 0 and 1, as in 0.1", option_name(field), test.fraction));
  if (test.kind != TestRatings::Kind::fraction && test.fraction != TestRatings{}.fraction)
    tasks::refuse_option(fmt::format("{} {} has no effect: {}.kind is not fraction",
                                     option_name(field + ".fraction"), test.fraction, field));
  if (test.kind != TestRatings::Kind::tensor && test.tensor.order() > 0)
    tasks::refuse_option(
        fmt::format("{} has no effect: {}.kind is not tensor", option_name(field + ".tensor"), field));
  if ((test.kind == TestRatings::Kind::file) == test.file.empty())
    tasks::refuse_option(fmt::format("{}: a file is named if and only if it holds the {} ratings",
                                     option_name(field), field == "test" ? "test" : "validation"));
}

void check_relevant(const CompleteOptions& options) {
  if (!options.relevant) return;
  if (!std::isfinite(*options.relevant))
    tasks::refuse_option(fmt::format("{} {}: expected a number", option_name("relevant"), *options.relevant));
  if (options.ranking == 0)
    tasks::refuse_option(fmt::format("{} has no effect: it requires {} of at least 1",
                                     option_name("relevant"), option_name("ranking")));
}

void check_partition(const CompleteOptions& options) {
  tasks::require_partition_file(options.partition == RatingPartition::file, options.partition_file);
  if (!options.cache.empty() && options.partition != RatingPartition::hypergraph)
    tasks::refuse_option(
        fmt::format("{} requires {} hypergraph", option_name("cache"), option_name("partition")));
}

CompletionOptions training_options(const CompleteOptions& options) {
  CompletionOptions training;
  training.num_factors = options.factors;
  training.max_epochs = options.max_epochs;
  training.step.kind = options.schedule;
  training.step.size = options.learning_rate.value_or(default_step(options.schedule));
  training.step.decay = options.decay.value_or(training.step.decay);
  training.shrinkage = tasks::shrinkage_of(options);
  training.is_explicit = options.explicit_update;
  training.has_biases = !options.no_bias;
  training.patience = options.patience;
  training.seed = options.seed;
  return training;
}

// The step that an earlier training had at its end, unless one is asked for; that of an inverse schedule
// follows from the epoch.
template <class Real>
void keep_step(const std::optional<EarlierTraining<Real>>& earlier, const CompleteOptions& options,
               CompletionOptions& training) {
  const bool is_kept = earlier && !options.learning_rate && earlier->training.step > 0 &&
                       options.schedule != StepSchedule::Kind::inverse;
  if (is_kept) training.step.size = std::min(training.step.size, earlier->training.step);
}

// Of the ratings of all processes. Collective.
RatingRange range_of(const Comm& comm, std::span<const double> ratings) {
  RatingRange range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const double rating : ratings)
    range = {std::min(range.least, rating), std::max(range.largest, rating)};
  const double least = comm.all_reduce(range.least, Reduce::min);
  const double largest = comm.all_reduce(range.largest, Reduce::max);
  return {least, largest};
}

// Whether the observers of all processes continue. An exception of one is thrown on all.
CompletionObserver observer_of(const Context& context, const CompleteOptions& options) {
  return [&context, &observer = options.observer,
          validates = options.validate.kind != TestRatings::Kind::none](EpochRecord record) {
    record.validates = validates;
    if (record.was_undone) context.warn(report::epoch_text(record));
    return !observer || tasks::all_go_on(context.comm(), [&] { return observer(record); });
  };
}

// On process 0, with users first, sorted: so that they do not depend on the number of processes. Collective.
SparseTensor<double> gather_ratings(const Comm& comm, const SparseTensor<double>& own, RatingSide first) {
  auto all =
      transposed(move_nonzeros(comm, own, std::vector<int>(std::size_t(own.num_nonzeros()), 0)), first);
  keep_last_ratings(all);  // which sorts them; there are no others
  return all;
}

// The ratings as they were distributed, and the rows that were learned from them, of this process.
template <class Real>
struct Trained {
  tasks::ReadyRatings<Real> ready;
  CompletionOptions options;
  CompletionResult<Real> result;
};

template <class Real>
tasks::WholeModel<Real> gather_whole(const Comm& comm, const Trained<Real>& trained) {
  const auto& ready = trained.ready;
  const auto& options = trained.options;
  const auto& result = trained.result;
  const auto by = ready.distributed.by;
  auto rows = gather_model<Real>(ready.x, result.users, result.items, travelling_words(options));
  auto ratings = gather_ratings(comm, ready.distributed.split.train, by);
  return collectively(comm, [&] {
    if (comm.rank() != 0) return tasks::WholeModel<Real>{};
    if (ready.earlier) carry_over(*ready.earlier, rows);
    rows = transposed(std::move(rows), by);
    return tasks::WholeModel<Real>{
        std::move(rows.model),
        {result.best_epoch, result.last_step, options.shrinkage, std::move(rows.user_squares),
         std::move(rows.item_squares), options.range},
        std::move(ratings)};
  });
}

template <class Real>
report::CompletionRun describe_run(const Trained<Real>& trained, const CompleteOptions& asked_for,
                                   const tasks::KnownMachine& machine) {
  const auto& ready = trained.ready;
  auto run = report::describe_completion(ready.x, ready.distributed.by, trained.options, trained.result,
                                         machine.model);
  run.machine = machine.source;
  run.load_seconds = ready.load_seconds;
  run.distribute_seconds = ready.distribute_seconds;
  run.num_duplicates = ready.num_duplicates;
  run.num_test_duplicates = ready.num_test_duplicates;
  run.num_unknown = ready.num_unknown;
  run.side_seconds = ready.distributed.side_seconds;
  if (run.parts() > 1) run.partition = to_string(asked_for.partition);
  run.test = tasks::name_of(asked_for.test);
  run.validate = tasks::name_of(asked_for.validate);
  return run;
}

// By process 0. `test`: the test ratings of this process, with `by` first. Collective.
template <class Real>
void rank_items(tasks::CompletionState<Real>& state, const SparseTensor<double>& own_test, RatingSide by,
                const CompleteOptions& options) {
  const OneProcessWorks patience;
  const auto test = gather_ratings(state.comm, own_test, by);
  state.gather();
  const auto ranking = collectively(state.comm, [&] {
    return state.comm.rank() == 0 ? kernels::measure_ranking(state.whole().model, state.whole().ratings, test,
                                                             options.ranking, options.relevant)
                                  : RankingMetrics{};
  });
  state.run.ranking = state.comm.broadcast(ranking, 0);
}

// The errors that training measured are those on the validation ratings; the test comes now, once, on process
// 0. Collective.
template <class Real>
void test_once(tasks::CompletionState<Real>& state, SplitRatings& own, RatingSide by,
               const RatingRange& range, tasks::HeldOutTest held) {
  auto& run = state.run;
  for (auto& record : run.epochs) record.validates = true;
  run.num_validation = std::exchange(run.num_test, held.num_test);
  run.validation_errors = std::exchange(run.test_errors, std::nullopt);
  run.num_duplicates += held.num_duplicates;
  run.num_test_duplicates = held.num_test_duplicates;
  run.num_unknown = held.num_unknown;
  own.test = transposed(std::move(held.test), by);
  if (held.num_test == 0) return;
  const OneProcessWorks patience;
  const auto test = gather_ratings(state.comm, own.test, by);
  state.gather();
  const auto sums = collectively(state.comm, [&] {
    return state.comm.rank() == 0 ? kernels::model_errors(state.whole().model, test, range) : ErrorSums{};
  });
  const auto [squares, magnitudes, count] = state.comm.broadcast(sums, 0);
  run.test_errors = {std::sqrt(squares / double(count)), magnitudes / double(count)};
}

template <class Real>
CompletionModel complete_in(const Context& context, Tensor ratings, const CompleteOptions& options) {
  const Comm& comm = context.comm();
  auto training = training_options(options);
  const auto machine = tasks::load_machine(comm);
  const std::string input = ratings.path;
  auto settings = tasks::settings_of(options, ratings);
  auto in_training = options;
  std::optional<tasks::HeldOutTest> held;
  if (options.validate.kind != TestRatings::Kind::none)
    held = tasks::hold_out_test(context, ratings, in_training);
  auto ready =
      tasks::prepare_ratings<Real>(context, std::move(ratings), in_training, training, machine.model);
  tasks::warn_of_values(context, ready.distributed.split.train.values(), input);
  keep_step(ready.earlier, options, training);
  training.range = range_of(comm, ready.distributed.split.train.values());

  Stopwatch watch;
  auto result = sgd_completion(ready.x, training, observer_of(context, options),
                               ready.earlier ? &*ready.earlier : nullptr);
  auto trained =
      std::make_shared<Trained<Real>>(Trained<Real>{std::move(ready), training, std::move(result)});
  auto run = describe_run(*trained, options, machine);
  run.train_seconds = watch.lap();
  auto state = std::make_shared<tasks::CompletionState<Real>>(
      comm, std::move(trained->ready.labels), [comm, trained] { return gather_whole(comm, *trained); });
  state->input = input;
  state->settings = std::move(settings);
  state->is_trained = true;
  state->run = std::move(run);
  auto& distributed = trained->ready.distributed;
  if (held) test_once(*state, distributed.split, distributed.by, training.range, std::move(*held));
  if (state->run.test_errors)
    state->run.baselines = measure_baselines(comm, distributed.split, distributed.by);
  if (options.ranking > 0 && state->run.num_test > 0)
    rank_items(*state, distributed.split.test, distributed.by, options);
  state->run.output_seconds = watch.lap();
  state->note_memory();
  return CompletionModel(std::move(state));
}

void check_solver(const CompleteOptions& options) {
  tasks::require_enumerator("solver", options.solver, RowSolver::cg);
  if (options.solver != RowSolver::automatic && !tasks::uses_least_squares(options))
    tasks::refuse_option(fmt::format("{} requires {} als or {}", option_name("solver"), option_name("method"),
                                     option_name("implicit")));
  if (!options.cg_steps) return;
  if (options.solver != RowSolver::cg)
    tasks::refuse_option(fmt::format("{} requires {} cg", option_name("cg_steps"), option_name("solver")));
  if (*options.cg_steps < 1)
    tasks::refuse_option(
        fmt::format("{} {}: expected at least 1", option_name("cg_steps"), *options.cg_steps));
}

// With alternating least squares: what the options of gradient descent say has no effect, and is refused.
void check_least_squares(const CompleteOptions& options) {
  const CompleteOptions usual;
  const auto refuse = [&](bool is_given, const char* field) {
    if (is_given)
      tasks::refuse_option(fmt::format("{} requires {} sgd", option_name(field), option_name("method")));
  };
  refuse(options.schedule != usual.schedule, "schedule");
  refuse(options.learning_rate.has_value(), "learning_rate");
  refuse(options.decay.has_value(), "decay");
  refuse(options.sync != usual.sync, "sync");
  refuse(options.virtual_processes != usual.virtual_processes, "virtual_processes");
  refuse(options.random_owners != usual.random_owners, "random_owners");
  refuse(options.explicit_update != usual.explicit_update, "explicit_update");
  refuse(options.by != usual.by, "by");
  refuse(options.partition != usual.partition, "partition");
  refuse(!options.resume.empty(), "resume");
  refuse(options.max_memory_bytes != 0, "max_memory_bytes");
  if (options.implicit && options.validate.kind != TestRatings::Kind::none)
    tasks::refuse_option(fmt::format("{} has no errors that could choose an epoch: {} has no effect",
                                     option_name("implicit"), option_name("validate")));
  if (options.implicit && options.no_bias)
    tasks::refuse_option(
        fmt::format("{} has no biases: {} has no effect", option_name("implicit"), option_name("no_bias")));
}

AlsCompletionOptions als_options(const CompleteOptions& options) {
  AlsCompletionOptions als;
  als.num_factors = options.factors;
  als.max_sweeps = options.max_epochs;
  als.shrinkage = tasks::shrinkage_of(options);
  als.has_biases = !options.no_bias && !options.implicit;
  als.patience = options.patience;
  als.tolerance = 1e-4;
  als.seed = options.seed;
  if (options.implicit) als.alpha = options.alpha;
  als.cg_steps = tasks::cg_steps_of(options);
  return als;
}

template <class Real>
report::CompletionRun describe_als(const Context& context, const tasks::SplitTask& task,
                                   const CompleteOptions& options, const AlsCompletionOptions& als,
                                   const AlsCompletionResult<Real>& result) {
  const Comm& comm = context.comm();
  report::CompletionRun run;
  run.is_als = true;
  run.alpha = als.alpha;
  run.cg_steps = als.cg_steps;
  run.num_users = task.extents[0];
  run.num_items = task.extents[1];
  run.num_ratings = comm.all_reduce(task.split.train.num_nonzeros());
  run.num_test = comm.all_reduce(task.split.test.num_nonzeros()) - result.num_learned_tests;
  run.mean = result.mean;
  run.scale = result.scale;
  run.options = training_options(options);
  run.options.has_biases = als.has_biases;
  run.precision = sizeof(Real) == sizeof(float) ? "single" : "double";
  run.processes = comm.size();
  run.threads = num_threads();
  run.epochs = result.epochs;
  run.best_epoch = result.best_epoch;
  run.stop = result.stop;
  run.train = result.train;
  run.test_errors = result.test;
  run.volume_words = result.communication.volume_words;
  run.predicted_volume_words = result.communication.predicted_volume_words;
  run.messages = result.communication.messages;
  run.process_seconds = comm.all_gather(result.seconds);
  run.load_seconds = task.load_seconds;
  run.distribute_seconds = task.distribute_seconds;
  run.num_duplicates = task.num_duplicates;
  run.num_test_duplicates = task.num_test_duplicates;
  run.num_unknown = task.num_unknown;
  if (comm.size() > 1) run.partition = "random";
  run.test = tasks::name_of(options.test);
  run.validate = tasks::name_of(options.validate);
  return run;
}

template <class Real>
CompletionModel complete_by_als(const Context& context, Tensor ratings, const CompleteOptions& options) {
  const Comm& comm = context.comm();
  const std::string input = ratings.path;
  auto settings = tasks::settings_of(options, ratings);
  auto in_training = options;
  std::optional<tasks::HeldOutTest> held;
  if (options.validate.kind != TestRatings::Kind::none)
    held = tasks::hold_out_test(context, ratings, in_training);
  auto task =
      std::make_shared<tasks::SplitTask>(tasks::split_ratings(context, std::move(ratings), in_training));
  auto als = als_options(options);
  if (!als.alpha) tasks::warn_of_values(context, task->split.train.values(), input);
  if (!als.alpha) als.range = range_of(comm, task->split.train.values());
  Stopwatch watch;
  const auto result = std::make_shared<AlsCompletionResult<Real>>(
      als_completion<Real>(comm, task->split, als, context.progress(), observer_of(context, options)));
  if (result->num_learned_tests > 0)
    context.warn(report::counted_were(result->num_learned_tests, "test rating") +
                 " left out, because the training ratings have them too");
  auto run = describe_als(context, *task, options, als, *result);
  run.train_seconds = watch.lap();
  auto state = std::make_shared<tasks::CompletionState<Real>>(
      comm, std::move(task->labels), [comm, task, result, als] {
        auto model = gather_model(comm, *result, task->extents[0], task->extents[1], als);
        auto all = gather_ratings(comm, task->split.train, RatingSide::user);
        return tasks::WholeModel<Real>{std::move(model),
                                       {result->best_epoch, 0, als.shrinkage, {}, {}, als.range, als.alpha},
                                       std::move(all)};
      });
  state->input = input;
  state->settings = std::move(settings);
  state->is_trained = true;
  state->run = std::move(run);
  if (held)
    test_once(*state, task->split, RatingSide::user, als.range.value_or(RatingRange{}), std::move(*held));
  if (state->run.test_errors) state->run.baselines = measure_baselines(comm, task->split, RatingSide::user);
  if (options.ranking > 0 && state->run.num_test > 0)
    rank_items(*state, task->split.test, RatingSide::user, options);
  state->run.output_seconds = watch.lap();
  state->note_memory();
  return CompletionModel(std::move(state));
}

}  // namespace

std::string to_string(CompletionMethod method) {
  return method == CompletionMethod::als ? "als" : "sgd";
}

std::string to_string(RowSolver solver) {
  switch (solver) {
    case RowSolver::automatic:
      return "auto";
    case RowSolver::cholesky:
      return "cholesky";
    case RowSolver::cg:
      return "cg";
  }
  return "";
}

std::string to_string(RatingPartition partition) {
  switch (partition) {
    case RatingPartition::random:
      return "random";
    case RatingPartition::block:
      return "block";
    case RatingPartition::hypergraph:
      return "hypergraph";
    case RatingPartition::file:
      return "file";
  }
  return "";
}

namespace {

// Ratings to which nothing was done have the usual rule.
ValuePreparation preparation_of(const Tensor& ratings) {
  if (!ratings.is_prepared) return RatingTraining<double>::usual_preparation();
  return {ratings.duplicate_rule, ratings.transform, ratings.min_count};
}

}  // namespace

Tensor load_ratings(const Context& context, const TensorFiles& files, LoadOptions options) {
  return load(context, files, tasks::rating_options(std::move(options)));
}

std::string to_text(const EpochRecord& record) {
  return report::epoch_text(record);
}

void validate(const CompleteOptions& options) {
  if (options.factors < 1 || options.factors > max_factors)
    tasks::refuse_option(fmt::format("{} {}: expected a number from 1 to {}", option_name("factors"),
                                     options.factors, max_factors));
  require_not_negative("max_epochs", options.max_epochs);
  require_not_negative("regularisation", options.regularisation.value_or(0));
  require_not_negative("shrinkage", options.shrinkage.value_or(0));
  require_not_negative("patience", options.patience);
  if (options.ranking < 0 || options.ranking > max_ranking)
    tasks::refuse_option(fmt::format("{} {}: expected a number from 0 to {}", option_name("ranking"),
                                     options.ranking, max_ranking));
  check_relevant(options);
  tasks::require_memory_limit(options.max_memory_bytes);
  tasks::require_enumerator("precision", options.precision, Precision::float32);
  tasks::require_enumerator("schedule", options.schedule, StepSchedule::Kind::adagrad);
  tasks::require_enumerator("by", options.by, DistributedSide::items);
  tasks::require_enumerator("partition", options.partition, RatingPartition::file);
  tasks::require_enumerator("test.kind", options.test.kind, TestRatings::Kind::tensor);
  tasks::require_enumerator("validate.kind", options.validate.kind, TestRatings::Kind::tensor);
  tasks::require_enumerator("method", options.method, CompletionMethod::als);
  require_not_negative("alpha", options.alpha);
  check_solver(options);
  if (tasks::uses_least_squares(options)) check_least_squares(options);
  check_schedule(options);
  check_test(options.test, "test");
  check_test(options.validate, "validate");
  check_partition(options);
}

CompletionModel complete(const Context& context, Tensor ratings, const CompleteOptions& options) {
  const tasks::TaskScope scope(context);
  validate(options);
  const bool is_single = options.precision == Precision::float32;
  const auto prepared = preparation_of(ratings);
  const auto model = [&] {
    if (tasks::uses_least_squares(options))
      return is_single ? complete_by_als<float>(context, std::move(ratings), options)
                       : complete_by_als<double>(context, std::move(ratings), options);
    return is_single ? complete_in<float>(context, std::move(ratings), options)
                     : complete_in<double>(context, std::move(ratings), options);
  }();
  model.state().prepared = prepared;
  return model;
}

}  // namespace polyad
