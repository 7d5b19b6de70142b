#include "polyad/tasks/complete.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "polyad/algo/ratings/als_completion.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/base/unfinished_paths.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/comm/lone_work.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/distributed/move_nonzeros.hpp"
#include "polyad/kernels/ratings/model_errors.hpp"
#include "polyad/kernels/ratings/ranking_metrics.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/agreement.hpp"
#include "polyad/tasks/detail/checkpoints/training_control.hpp"
#include "polyad/tasks/detail/choose_device.hpp"
#include "polyad/tasks/detail/machine_file.hpp"
#include "polyad/tasks/detail/ratings/choose_lists.hpp"
#include "polyad/tasks/detail/ratings/completion_state.hpp"
#include "polyad/tasks/detail/ratings/hold_out_test.hpp"
#include "polyad/tasks/detail/ratings/list_model.hpp"
#include "polyad/tasks/detail/ratings/prepare_ratings.hpp"
#include "polyad/tasks/detail/ratings/rating_values.hpp"
#include "polyad/tasks/detail/settings.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"
#include "polyad/tasks/detail/values/prepare_values.hpp"

namespace polyad {
namespace {

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

// A trained model before it is gathered: what both methods lead to. `own` is shared with `gather`.
template <class Real>
struct Learned {
  std::vector<ModeLabels> labels;
  std::shared_ptr<SplitRatings> own;  // of this process, with `by` first
  RatingSide by = RatingSide::user;
  RatingRange range;  // of the training ratings
  report::CompletionRun run;
  typename tasks::CompletionState<Real>::Gather gather;
};

// The ratings that training measures its errors on.
struct MeasuredRatings {
  std::string kind, path;
};
MeasuredRatings measured_ratings(const CompleteOptions& asked_for) {
  if (asked_for.validate.kind == TestRatings::Kind::none) return {"test", asked_for.test.file.string()};
  return {"validation", asked_for.validate.file.string()};
}

// The part of the description that has nothing to do with the method.
template <class Ready>
void describe_input(const Ready& ready, const CompleteOptions& asked_for, report::CompletionRun& run) {
  run.load_seconds = ready.load_seconds;
  run.distribute_seconds = ready.distribute_seconds;
  run.num_duplicates = ready.num_duplicates;
  run.num_test_duplicates = ready.num_test_duplicates;
  run.num_unknown = ready.num_unknown;
  run.test = tasks::name_of(asked_for.test);
  run.validate = tasks::name_of(asked_for.validate);
}

// The rows that gradient descent has learned, and what it needs to gather them.
template <class Real>
struct Descended {
  tasks::ReadyRatings<Real> ready;
  CompletionOptions options;
  CompletionResult<Real> result;
};

template <class Real>
tasks::WholeModel<Real> gather_whole(const Comm& comm, const Descended<Real>& trained,
                                     const SplitRatings& own) {
  const auto& ready = trained.ready;
  const auto& options = trained.options;
  const auto& result = trained.result;
  const auto by = ready.distributed.by;
  auto rows = gather_model<Real>(ready.x, result.users, result.items, travelling_words(options));
  auto ratings = gather_ratings(comm, own.train, by);
  return collectively(comm, [&] {
    if (comm.rank() != 0) return tasks::WholeModel<Real>{{}, {}, std::move(ratings)};
    if (ready.earlier) carry_over(*ready.earlier, rows);
    rows = transposed(std::move(rows), by);
    return tasks::WholeModel<Real>{
        std::move(rows.model),
        {result.best_epoch, result.last_step, options.shrinkage, std::move(rows.user_squares),
         std::move(rows.item_squares), options.range},
        std::move(ratings)};
  });
}

// A run under way: when it began, as the time limit counts, and from when on a signal ends it with the model
// so far.
struct RunUnderWay {
  double load_seconds = 0;
  Stopwatch since_call = {};
  std::optional<StoppableWork> since_training = {};

  double seconds() const { return load_seconds + since_call.seconds(); }
};

// Whether a signal to any process asks for it. Collective.
bool is_asked_to_stop(const Comm& comm) {
  return comm.all_reduce(Index(StoppableWork::stop_signal() != 0), Reduce::max) > 0;
}

std::string epoch_of(const report::CompletionRun& run, Index first_epoch) {
  return fmt::format("epoch {} of at most {}", run.epochs.empty() ? first_epoch : run.epochs.back().epoch,
                     first_epoch + run.options.max_epochs);
}

// By stochastic gradient descent. Collective.
template <class Real>
Learned<Real> descend(const Context& context, Tensor ratings, const CompleteOptions& asked_for,
                      const CompleteOptions& in_training, RunUnderWay& under_way) {
  const Comm& comm = context.comm();
  auto training = training_options(asked_for);
  const auto machine = tasks::load_machine(comm);  // whatever the threads: these must not change the model
  const std::string input = ratings.path;
  auto ready =
      tasks::prepare_ratings<Real>(context, std::move(ratings), in_training, training, machine.model);
  const auto [kind, path] = measured_ratings(asked_for);
  tasks::warn_of_learned(context, ready.num_learned, ready.x.num_test, kind, path);
  Learned<Real> learned;
  learned.own = std::make_shared<SplitRatings>(std::move(ready.distributed.split));
  learned.by = ready.distributed.by;
  tasks::warn_of_values(context, learned.own->train.values(), input);
  keep_step(ready.earlier, asked_for, training);
  learned.range = training.range = range_of(comm, learned.own->train.values());

  const Index first_epoch = ready.earlier ? ready.earlier->training.epochs : 0;
  tasks::TrainingControl<Real> control(context, transposed(*learned.own, learned.by), in_training,
                                       tasks::TrainedModel::main, under_way.seconds(), first_epoch);
  const Stopwatch watch;
  const auto controls = control.controls(learned.by);
  under_way.since_training.emplace();
  auto result = sgd_completion(ready.x, training, observer_of(context, asked_for),
                               ready.earlier ? &*ready.earlier : nullptr, controls);
  auto& run = learned.run;
  run = report::describe_completion(ready.x, learned.by, training, result, machine.model);
  run.ended_after = epoch_of(run, first_epoch);
  run.train_seconds = watch.seconds();
  run.checkpoint = control.use();
  run.machine = machine.source;
  run.side_seconds = ready.distributed.side_seconds;
  if (run.parts() > 1) run.partition = to_string(asked_for.partition);
  run.has_random_owners = asked_for.random_owners;
  describe_input(ready, asked_for, run);
  learned.labels = std::move(ready.labels);
  const auto trained =
      std::make_shared<Descended<Real>>(Descended<Real>{std::move(ready), training, std::move(result)});
  learned.gather = [comm, trained, own = learned.own] { return gather_whole(comm, *trained, *own); };
  return learned;
}

AlsCompletionOptions als_options(const CompleteOptions& options) {
  auto als = tasks::list_options(options, tasks::shrinkage_of(options));
  if (options.implicit) return als;
  als.alpha.reset();
  als.has_biases = !options.no_bias;
  als.patience = options.patience;
  return als;
}

// By alternating least squares. Collective.
template <class Real>
Learned<Real> alternate(const Context& context, Tensor ratings, const CompleteOptions& asked_for,
                        const CompleteOptions& in_training, RunUnderWay& under_way) {
  const Comm& comm = context.comm();
  const std::string input = ratings.path;
  auto task = tasks::split_ratings(context, std::move(ratings), in_training);
  if (const Index count = comm.all_reduce(leave_out_learned_tests(task.split)); count > 0)
    context.warn(report::counted_were(count, measured_ratings(asked_for).kind + " rating") +
                 " left out, because the training ratings have them too");
  Learned<Real> learned;
  learned.labels = std::move(task.labels);
  learned.own = std::make_shared<SplitRatings>(std::move(task.split));
  const auto& own = *learned.own;
  auto als = als_options(asked_for);
  tasks::ListChoice choice{tasks::usual_list_settings(asked_for)};
  if (!als.alpha) {
    tasks::warn_of_values(context, own.train.values(), input);
    als.range = learned.range = range_of(comm, own.train.values());
  }
  tasks::TrainingControl<Real> control(context, own, in_training, tasks::TrainedModel::main,
                                       under_way.seconds());
  const Stopwatch watch;
  if (als.alpha) {
    choice = control.choose(own.train, 1);
    als.shrinkage = choice.settings.shrinkage;
  }
  const auto control_sweeps = [&](const DistTensor<Real>& x) {
    under_way.since_training.emplace();
    return control.control(x);
  };
  const auto result = std::make_shared<AlsCompletionResult<Real>>(als_completion<Real>(
      comm, own, als, context.progress(), observer_of(context, asked_for), control_sweeps));
  auto options = training_options(asked_for);
  options.has_biases = als.has_biases;
  options.shrinkage = als.shrinkage;
  learned.run = report::describe_completion(comm, own, options, *result, als.alpha);
  learned.run.ended_after = epoch_of(learned.run, 0);
  learned.run.cg_steps = als.cg_steps;
  learned.run.train_seconds = watch.seconds();
  learned.run.checkpoint = control.use();
  describe_input(task, asked_for, learned.run);
  learned.run.list_trials = std::move(choice.trials);
  const auto settings = choice.settings;
  learned.run.popularity = settings.popularity;
  learned.run.neighbours = settings.neighbours;
  learned.gather = [comm, result, als, settings, split = learned.own] {
    auto all = gather_ratings(comm, split->train, RatingSide::user);
    auto model = gather_model(comm, *result, all.extent(0), all.extent(1), als);
    if (als.alpha && comm.rank() == 0) {
      tasks::rank_by(model, all, settings.popularity, settings.neighbours, {*als.alpha, 1});
      model.user_biases.assign(std::size_t(model.num_users()), Real(0));
    }
    return tasks::WholeModel<Real>{std::move(model),
                                   {result->best_epoch, 0, als.shrinkage, {}, {}, als.range, als.alpha},
                                   std::move(all)};
  };
  return learned;
}

// The model of ratings is kept, and has no lists.
void end_without_lists(StopReason reason, report::CompletionRun& run) {
  run.stop = completion_stop(reason);
  run.ended_after += ", without a model for lists";
}

// Adds a model for lists to the one that will be gathered. Collective.
template <class Real>
void learn_lists(const Context& context, const CompleteOptions& options, const RunUnderWay& under_way,
                 Learned<Real>& learned) {
  if (is_asked_to_stop(context.comm())) return end_without_lists(StopReason::interrupted, learned.run);
  auto own = transposed(*learned.own, learned.by);
  tasks::TrainingControl<Real> control(context, own, options, tasks::TrainedModel::lists,
                                       under_way.seconds());
  const auto trained = std::make_shared<tasks::TrainedLists<Real>>(
      tasks::train_lists<Real>(context, std::move(own.train), options, control));
  if (trained->cut_short) return end_without_lists(*trained->cut_short, learned.run);
  if (const auto use = control.use()) {
    learned.run.checkpoint->written += use->written;
    learned.run.checkpoint->seconds += use->seconds;
  }
  learned.run.lists = report::ListTraining{*trained->options.alpha,    trained->popularity,
                                           trained->neighbours,        tasks::list_power,
                                           trained->options.shrinkage, std::ssize(trained->result.epochs),
                                           trained->result.stop,       trained->seconds};
  learned.run.list_trials = trained->trials;
  if (is_cut_short(trained->result.stop)) {
    learned.run.stop = trained->result.stop;
    learned.run.ended_after = fmt::format("sweep {} of at most {} of the model for lists",
                                          learned.run.lists->sweeps, trained->options.max_sweeps);
  }
  learned.gather = [comm = context.comm(), trained, gather = std::move(learned.gather)] {
    auto whole = gather();
    auto lists = tasks::gather_lists(comm, *trained, whole.ratings);
    if (comm.rank() == 0) whole.training.lists = std::move(lists);
    return whole;
  };
}

// By process 0. Collective.
template <class Real>
void rank_items(tasks::CompletionState<Real>& state, const Learned<Real>& learned,
                const CompleteOptions& options) {
  const OneProcessWorks patience;
  const auto test = gather_ratings(state.comm, learned.own->test, learned.by);
  state.gather();
  const auto stop_on_signals = [] {
    if (StoppableWork::stop_signal() != 0) throw Error(Errc::interrupted, "a signal ended the measurement");
  };
  const auto ranking = alone(state.comm, 0, [&] {
    return kernels::measure_ranking(state.whole().ranks(), state.whole().ratings, test, options.ranking,
                                    options.relevant, stop_on_signals);
  });
  state.run.ranking = state.comm.broadcast(ranking, 0);
}

// Unless a signal asks the run to stop: then it ends without.
template <class Real>
void try_to_rank_items(tasks::CompletionState<Real>& state, const Learned<Real>& learned,
                       const CompleteOptions& options) {
  auto& run = state.run;
  try {
    if (run.stop != CompletionStop::interrupted && !is_asked_to_stop(state.comm))
      return rank_items(state, learned, options);
  } catch (const Error& error) {
    if (error.code() != Errc::interrupted) throw;
  }
  run.stop = CompletionStop::interrupted;
  run.ended_after += ", before its lists were measured";
}

// The errors that training measured are those on the validation ratings; the test comes now, once, on process
// 0. Collective.
template <class Real>
void test_once(tasks::CompletionState<Real>& state, const Learned<Real>& learned, tasks::HeldOutTest held) {
  auto& run = state.run;
  for (auto& record : run.epochs) record.validates = true;
  run.num_validation = std::exchange(run.num_test, held.num_test);
  run.validation_errors = std::exchange(run.test_errors, std::nullopt);
  run.num_duplicates += held.num_duplicates;
  run.num_test_duplicates = held.num_test_duplicates;
  run.num_unknown = held.num_unknown;
  learned.own->test = transposed(std::move(held.test), learned.by);
  if (held.num_test == 0) return;
  const OneProcessWorks patience;
  const auto test = gather_ratings(state.comm, learned.own->test, learned.by);
  state.gather();
  const auto sums =
      alone(state.comm, 0, [&] { return kernels::model_errors(state.whole().model, test, learned.range); });
  const auto [squares, magnitudes, count] = state.comm.broadcast(sums, 0);
  run.test_errors = {std::sqrt(squares / double(count)), magnitudes / double(count)};
}

template <class Real>
CompletionModel complete_in(const Context& context, Tensor ratings, const CompleteOptions& asked_for) {
  RunUnderWay under_way{ratings.load_seconds};
  const std::string input = ratings.path;
  auto settings = tasks::settings_of(asked_for, ratings);
  auto options = asked_for;
  const auto device = tasks::choose_device(context.comm(), ratings.tensor, asked_for);
  options.device = device.device();
  auto in_training = options;
  std::optional<tasks::HeldOutTest> held;
  if (options.validate.kind != TestRatings::Kind::none) {
    held = tasks::hold_out_test(context, ratings, in_training);
    tasks::warn_of_learned(context, held->num_learned, held->num_test, "test", options.test.file.string());
  }
  auto learned = [&] {
    auto model = tasks::uses_least_squares(options)
                     ? alternate<Real>(context, std::move(ratings), options, in_training, under_way)
                     : descend<Real>(context, std::move(ratings), options, in_training, under_way);
    if (model.run.is_als) model.run.device = device.text;
    if (tasks::trains_lists(options) && !is_cut_short(model.run.stop))
      learn_lists(context, in_training, under_way, model);
    if (model.run.lists) model.run.lists->device = device.text;
    return model;
  }();

  const Stopwatch watch;
  auto state = std::make_shared<tasks::CompletionState<Real>>(context.comm(), std::move(learned.labels),
                                                              std::move(learned.gather));
  state->input = input;
  state->settings = std::move(settings);
  state->is_trained = true;
  state->run = std::move(learned.run);
  if (held) test_once(*state, learned, std::move(*held));
  if (state->run.test_errors)
    state->run.baselines = measure_baselines(context.comm(), *learned.own, learned.by);
  if (options.ranking > 0 && state->run.num_test > 0) try_to_rank_items(*state, learned, options);
  state->run.is_asked_to_stop = is_asked_to_stop(context.comm());
  state->run.output_seconds = watch.seconds();
  state->note_memory();
  return CompletionModel(std::move(state));
}

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

void require_finished(const CompletionModel& model) {
  const auto& run = model.state().run;
  if (!is_cut_short(run.stop)) return;
  tasks::refuse_unfinished(run.stop == CompletionStop::time_limit, run.ended_after, run.checkpoint);
}

CompletionModel complete(const Context& context, Tensor ratings, const CompleteOptions& options) {
  const tasks::TaskScope scope(context);
  collectively(context.comm(), [&] { validate(options); });  // machines may have different GPUs
  const bool is_single = options.precision == Precision::float32;
  const auto prepared = preparation_of(ratings);
  const auto model = is_single ? complete_in<float>(context, std::move(ratings), options)
                               : complete_in<double>(context, std::move(ratings), options);
  model.state().prepared = prepared;
  return model;
}

}  // namespace polyad
