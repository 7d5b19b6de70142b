#include "polyad/tasks/search_complete.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "polyad/base/timings.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/report/search_report.hpp"
#include "polyad/tasks/detail/checkpoints/training_control.hpp"
#include "polyad/tasks/detail/ratings/completion_state.hpp"
#include "polyad/tasks/detail/ratings/hold_out_test.hpp"
#include "polyad/tasks/detail/ratings/list_model.hpp"
#include "polyad/tasks/detail/ratings/prepare_ratings.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"

namespace polyad {
namespace {

constexpr double usual_validation = 0.1;

bool has_steps(const CompleteOptions& options) {
  return !options.implicit && options.method == CompletionMethod::sgd;
}

double regularisation_of(const CompleteOptions& options) {
  return tasks::shrinkage_of(options).per_rating;
}

double learning_rate_of(const CompleteOptions& options) {
  return options.learning_rate.value_or(default_step(options.schedule));
}

// Every combination of what was tried before with each of the values.
template <class Value, class Set>
void combine(std::vector<CompleteOptions>& trials, const std::vector<Value>& values, const Set& set) {
  if (values.empty()) return;
  std::vector<CompleteOptions> all;
  for (const auto& trial : trials)
    for (const auto value : values) {
      if (Index(all.size()) == max_trials)
        tasks::refuse_option(fmt::format("{}: more than {} combinations", option_name("search"), max_trials));
      all.push_back(trial);
      set(all.back(), value);
    }
  trials = std::move(all);
}

std::vector<CompleteOptions> combinations(const CompleteOptions& options, const SearchGrid& grid) {
  std::vector<CompleteOptions> trials{options};
  combine(trials, grid.factors, [](auto& trial, Index value) { trial.factors = value; });
  combine(trials, grid.regularisation, [](auto& trial, double value) { trial.regularisation = value; });
  combine(trials, grid.learning_rate, [](auto& trial, double value) { trial.learning_rate = value; });
  combine(trials, grid.alpha, [](auto& trial, double value) { trial.alpha = value; });
  return trials;
}

void check_search(const CompleteOptions& options, const SearchGrid& grid) {
  if (!options.resume.empty())
    tasks::refuse_option(fmt::format("{} trains from the start: it excludes {}", option_name("search"),
                                     option_name("resume")));
  tasks::refuse_checkpoints("search", options);
  if (options.implicit && options.ranking == 0)
    tasks::refuse_option(fmt::format("{} with {} compares lists: it requires {} of at least 1",
                                     option_name("search"), option_name("implicit"), option_name("ranking")));
  if (!grid.learning_rate.empty() && !has_steps(options))
    tasks::refuse_option(fmt::format("{} of {}: least squares have none", option_name("search"),
                                     option_name("learning_rate")));
  if (!grid.alpha.empty() && !options.implicit)
    tasks::refuse_option(fmt::format("{} of {} requires {}", option_name("search"), option_name("alpha"),
                                     option_name("implicit")));
}

// Trials of models of ratings are compared by their errors, and need no lists.
void measure_errors_only(CompleteOptions& trial) {
  const CompleteOptions usual;
  trial.ranking = 0;
  trial.relevant = {};
  trial.lists = ListsBy::ratings;
  trial.alpha = usual.alpha;
  trial.popularity = usual.popularity;
  trial.neighbours = usual.neighbours;
}

SearchTrial measure(const Context& quiet, const Tensor& ratings, const CompleteOptions& options) {
  const Stopwatch watch;
  const auto model = complete(quiet, ratings, options);
  tasks::require_uncut(model);
  SearchTrial trial;
  trial.factors = options.factors;
  trial.regularisation = regularisation_of(options);
  if (has_steps(options)) trial.learning_rate = learning_rate_of(options);
  if (options.implicit) trial.alpha = options.alpha;
  trial.best_epoch = model.best_epoch();
  if (options.implicit)
    trial.ndcg = model.ranking() ? model.ranking()->model.ndcg : 0;
  else
    trial.errors = model.test_errors();
  // The slowest process is what a user waits for, and all must agree.
  trial.seconds = quiet.comm().all_reduce(watch.seconds(), Reduce::max);
  return trial;
}

bool is_better(const SearchTrial& one, const SearchTrial& other) {
  if (one.ndcg) return *one.ndcg > *other.ndcg;
  if (!one.errors || !other.errors) return one.errors.has_value() && !other.errors;
  if (std::isnan(other.errors->rmse)) return !std::isnan(one.errors->rmse);
  return one.errors->rmse < other.errors->rmse;
}

}  // namespace

std::string to_text(const SearchTrial& trial) {
  return report::trial_text(trial);
}

SearchGrid usual_grid(const CompleteOptions& options) {
  SearchGrid grid;
  grid.factors = {8, 16, 32, 64};
  const double regularisation = regularisation_of(options);
  grid.regularisation = {regularisation / 2, regularisation, 2 * regularisation};
  const double rate = learning_rate_of(options);
  if (has_steps(options)) grid.learning_rate = {rate / 2, rate, 2 * rate};
  if (options.implicit) grid.alpha = {options.alpha / 3, options.alpha, 3 * options.alpha};
  return grid;
}

CompletionSearch search_complete(const Context& context, Tensor ratings, CompleteOptions options,
                                 const SearchGrid& grid, const SearchObserver& observer) {
  const tasks::TaskScope scope(context);
  check_search(options, grid);
  // The search is what chooses.
  if (options.implicit) options.popularity = options.popularity.value_or(tasks::usual_popularity);
  auto held_options = options;
  // Validation ratings compare the trials; of implicit feedback they choose no epoch.
  if (options.implicit) options.validate = {};
  const auto all = combinations(options, grid);
  collectively(context.comm(), [&] {  // machines may have different GPUs
    for (const auto& trial : all) validate(trial);
  });
  if (held_options.validate.kind == TestRatings::Kind::none) {
    held_options.validate.kind = TestRatings::Kind::fraction;
    held_options.validate.fraction = usual_validation;
    if (!options.implicit && options.patience > 0) options.validate = held_options.validate;
  }
  Tensor known = ratings;
  tasks::hold_out_test(context, known, held_options);  // the test ratings are left out

  const Context quiet(context.comm(), ContextOptions{.threads = context.threads()});
  std::vector<SearchTrial> trials;
  std::size_t best = 0;
  for (const auto& combination : all) {
    auto trial = combination;
    trial.test = held_options.test;
    trial.validate = {};
    trial.observer = {};
    trial.will_save = trial.will_report = false;
    if (!options.implicit) measure_errors_only(trial);
    trials.push_back(measure(quiet, known, trial));
    if (is_better(trials.back(), trials[best])) best = trials.size() - 1;
    if (observer) observer(trials.back());
  }
  trials[best].is_chosen = true;
  known = {};
  auto chosen = all[best];
  chosen.validate = options.validate;
  auto model = complete(context, std::move(ratings), chosen);
  model.state().run.search = trials;
  return {std::move(trials), model};
}

}  // namespace polyad
