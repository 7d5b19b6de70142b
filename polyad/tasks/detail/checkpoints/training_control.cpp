#include "polyad/tasks/detail/checkpoints/training_control.hpp"

#include <fmt/format.h>

#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/tasks/detail/checkpoints/checkpoint_identity.hpp"
#include "polyad/tasks/detail/ratings/completion_state.hpp"
#include "polyad/tasks/detail/task_checks.hpp"

namespace polyad::tasks {
namespace {

constexpr const char* lists_folder = "lists";

CheckpointOptions place_of(CheckpointOptions options, TrainedModel model) {
  if (model == TrainedModel::lists) options.directory /= lists_folder;
  return options;
}

io::CheckpointManifest training_identity(const Context& context, const SplitRatings& own,
                                         const CompleteOptions& options, TrainedModel model) {
  auto identity = checkpoint_identity(context, own, options);
  if (model == TrainedModel::lists) identity.options.emplace_back("model", "lists");
  return identity;
}

void require_epochs(const io::CheckpointManifest& found, const CompleteOptions& options, Index first_epoch) {
  if (found.iteration - first_epoch > options.max_epochs)
    refuse_option(fmt::format("{} {}: the newest checkpoint in {} is of epoch {}", option_name("max_epochs"),
                              options.max_epochs, options.checkpoint->directory.string(), found.iteration));
}

template <class Real>
OwnRows<Real> transposed_rows(const OwnRows<Real>& own) {
  OwnRows<Real> other;
  other.numbers = {own.numbers[1], own.numbers[0]};
  other.width = own.width;
  other.read = [read = own.read](int side, Index row, Real* to) { read(1 - side, row, to); };
  other.write = [write = own.write](int side, Index row, const Real* from) { write(1 - side, row, from); };
  return other;
}

void put_settings(StateNumbers& numbers, const ListSettings& settings) {
  const auto& [shrinkage, popularity, neighbours] = settings;
  for (const double number :
       {shrinkage.per_rating, shrinkage.per_row, shrinkage.of_items, popularity, neighbours})
    numbers.put(number);
}

ListSettings take_settings(StateNumbers& numbers) {
  ListSettings settings;
  settings.shrinkage.per_rating = numbers.take();
  settings.shrinkage.per_row = numbers.take();
  settings.shrinkage.of_items = numbers.take();
  settings.popularity = numbers.take();
  settings.neighbours = numbers.take();
  return settings;
}

constexpr int not_chosen = -1;

// Trials take fewer sweeps where there are fewer epochs: the choice may depend on that number.
std::vector<double> numbers_of(const ListChoice& choice, int max_epochs) {
  StateNumbers numbers;
  numbers.put(max_epochs);
  put_settings(numbers, choice.settings);
  numbers.put(double(choice.trials.size()));
  for (const auto& trial : choice.trials) {
    put_settings(numbers, {trial.shrinkage, trial.popularity, trial.neighbours});
    numbers.put(trial.ndcg);
    numbers.put(double(trial.is_chosen));
  }
  return numbers.values();
}

struct StoredChoice {
  int max_epochs = 0;
  ListChoice choice;
};
StoredChoice choice_from(std::vector<double> values) {
  StateNumbers numbers(std::move(values));
  StoredChoice stored;
  stored.max_epochs = numbers.take_int();
  stored.choice.settings = take_settings(numbers);
  const double count = numbers.take();
  while (double(stored.choice.trials.size()) < count) {
    report::ListTrial trial;
    const auto settings = take_settings(numbers);
    trial.shrinkage = settings.shrinkage;
    trial.popularity = settings.popularity;
    trial.neighbours = settings.neighbours;
    trial.ndcg = numbers.take();
    trial.is_chosen = numbers.take() != 0;
    stored.choice.trials.push_back(trial);
  }
  return stored;
}

// For iterations of which no state is kept.
template <class Real>
CpControl<Real> cp_controls_of(const RunControls<Real>& controls) {
  CpControl<Real> control;
  control.ask = controls.ask;
  if (controls.pause)
    control.pause = [pause = controls.pause](const CpPause<Real>& at) {
      return pause({at.iteration, at.fit, at.is_end, {}, at.asked});
    };
  return control;
}

bool are_same(const ListSettings& one, const ListSettings& other) {
  return one.shrinkage == other.shrinkage && one.popularity == other.popularity &&
         one.neighbours == other.neighbours;
}

}  // namespace

template <class Real>
TrainingControl<Real>::TrainingControl(const Context& context, const SplitRatings& own,
                                       const CompleteOptions& options, TrainedModel model,
                                       double seconds_before, Index first_epoch)
    : context_(context), options_(options), model_(model) {
  if (options.checkpoint) {
    checkpoints_.emplace(context, place_of(*options.checkpoint, model),
                         training_identity(context, own, options, model));
    const auto& found = checkpoints_->found();
    if (found && model == TrainedModel::main) require_epochs(*found, options, first_epoch);
  }
  run_.emplace(context.comm(), std::vector<int>(), checkpoints_ ? &*checkpoints_ : nullptr,
               options.max_seconds, seconds_before);
}

template <class Real>
void TrainingControl<Real>::say_what_it_goes_on_from() const {
  if (model_ != TrainedModel::main || !checkpoints_ || !checkpoints_->found()) return;
  context_.note(fmt::format("going on from {} after epoch {}", options_.checkpoint->directory.string(),
                            checkpoints_->found()->iteration));
}

template <class Real>
RunControls<Real> TrainingControl<Real>::controls(RatingSide first) {
  say_what_it_goes_on_from();
  users_first_ = run_->controls();
  if (first == RatingSide::user || !users_first_.pause) return users_first_;
  RunControls<Real> items_first;
  items_first.pause = [this](const RunPause<Real>& pause) {
    const auto save = [&](RunState<Real>& state) {
      pause.save(state);
      state.rows = transposed_rows(state.rows);
    };
    return users_first_.pause({pause.iteration, pause.fit, pause.is_end, save, pause.asked});
  };
  items_first.ask = users_first_.ask;
  if (users_first_.from == nullptr) return items_first;
  const auto fill = [this](const OwnRows<Real>& own, Index num_vectors, Index num_columns) {
    users_first_.from->fill(transposed_rows(own), num_vectors, num_columns);
  };
  transposed_ = {std::move(users_first_.from->numbers), fill};
  items_first.from = &transposed_;
  return items_first;
}

template <class Real>
CpControl<Real> TrainingControl<Real>::control(const DistTensor<Real>& x) {
  say_what_it_goes_on_from();
  return cp_.emplace(x, *run_).control();
}

template <class Real>
std::optional<report::CheckpointUse> TrainingControl<Real>::use() const {
  return checkpoints_ ? std::optional(checkpoints_->use()) : std::nullopt;
}

template <class Real>
ListChoice TrainingControl<Real>::choose(const SparseTensor<double>& own, double power) {
  std::optional<StoredChoice> stored;
  if (auto* from = run_->from()) stored = choice_from(from->numbers.take_list());
  ListChoice choice;
  if (stored && stored->max_epochs == options_.max_epochs)
    choice = stored->choice;
  else
    choice = choose_lists<Real>(context_, own, options_, power, cp_controls_of(run_->controls_before()));
  if (stored && choice.cut_short) {  // nothing was chosen, so that what was before remains
    const auto cut_short = choice.cut_short;
    choice = stored->choice;
    choice.cut_short = cut_short;
  }
  if (stored && !are_same(stored->choice.settings, choice.settings)) {
    checkpoints_->forget();
    run_->begin_anew();
    context_.note("other settings of lists are chosen than before: their model is trained from the start");
  }
  const int not_yet = stored ? stored->max_epochs : not_chosen;
  run_->put_first(numbers_of(choice, choice.cut_short ? not_yet : options_.max_epochs));
  return choice;
}

void refuse_checkpoints(const char* field, const CompleteOptions& options) {
  if (options.checkpoint || options.max_seconds > 0)
    refuse_option(fmt::format("{} trains several models: it excludes {}", option_name(field),
                              option_name(options.checkpoint ? "checkpoint" : "max_seconds")));
}

void require_uncut(const CompletionModel& model) {
  const auto& run = model.state().run;
  if (is_cut_short(run.stop) || run.is_asked_to_stop)
    throw Error(Errc::interrupted, "a signal ended the run before its last training; nothing is kept");
}

template class TrainingControl<float>;
template class TrainingControl<double>;

}  // namespace polyad::tasks
