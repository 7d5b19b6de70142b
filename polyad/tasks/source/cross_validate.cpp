#include "polyad/tasks/cross_validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "polyad/comm/collective.hpp"
#include "polyad/report/fold_report.hpp"
#include "polyad/tasks/detail/checkpoints/training_control.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/ratings/completion_input.hpp"
#include "polyad/tasks/detail/ratings/completion_state.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"

namespace polyad {
namespace {

constexpr double default_validation = 0.1;
constexpr ErrorFigures no_errors{std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::quiet_NaN()};

void check_folds(const CompleteOptions& options, int folds) {
  if (folds < 2 || folds > max_folds)
    tasks::refuse_option(
        fmt::format("{} {}: expected a number from 2 to {}", option_name("folds"), folds, max_folds));
  if (options.test.kind != TestRatings::Kind::none)
    tasks::refuse_option(fmt::format("{} chooses the test ratings: it excludes {}", option_name("folds"),
                                     option_name("test")));
  tasks::refuse_checkpoints("folds", options);
  if (options.implicit && options.ranking == 0)
    tasks::refuse_option(fmt::format("{} has no errors: {} with {} 0 has nothing to measure",
                                     option_name("implicit"), option_name("folds"), option_name("ranking")));
  if (!options.resume.empty())
    tasks::refuse_option(
        fmt::format("{} trains from the start: it excludes {}", option_name("folds"), option_name("resume")));
}

// The ratings of one fold, as the test, and the others.
SplitRatings split_fold(const SparseTensor<double>& ratings, const RatingFolds& folds, int fold) {
  SplitRatings split{SparseTensor<double>(ratings.extents()), SparseTensor<double>(ratings.extents())};
  for (Index z = 0; z < ratings.num_nonzeros(); ++z) {
    const Index user = ratings.indices(0)[z], item = ratings.indices(1)[z];
    auto& part = fold_of(folds, user, item) == fold ? split.test : split.train;
    part.append(std::vector{user, item}, ratings.values()[z]);
  }
  return split;
}

FoldFigure figure_of(const std::vector<FoldResult>& folds, double ErrorFigures::*error) {
  std::vector<double> values;
  for (const auto& fold : folds) values.push_back(fold.test.*error);
  const auto [mean, deviation] = report::spread_over_folds(values);
  return {mean, deviation};
}

}  // namespace

CrossValidation cross_validate(const Context& context, Tensor ratings, CompleteOptions options, int folds) {
  const tasks::TaskScope scope(context);
  check_folds(options, folds);
  collectively(context.comm(), [&] {
    validate(options);  // machines may have different GPUs
    tasks::require_ratings(ratings, {});
  });
  if (!options.implicit && options.validate.kind == TestRatings::Kind::none && options.patience > 0) {
    options.validate.kind = TestRatings::Kind::fraction;
    options.validate.fraction = default_validation;
  }
  const Context quiet(context.comm(), ContextOptions{.threads = context.threads()});
  const auto all = std::exchange(ratings.tensor, SparseTensor<double>(ratings.tensor.extents()));
  std::vector<FoldResult> results;
  std::vector<report::CompletionRun> runs;
  for (int fold = 0; fold < folds; ++fold) {
    auto split = split_fold(all, {folds, options.seed}, fold);
    Tensor part = ratings;
    part.tensor = std::move(split.train);
    options.test.kind = TestRatings::Kind::tensor;
    options.test.tensor = std::move(split.test);
    const auto model = complete(fold == 0 ? context : quiet, std::move(part), options);
    tasks::require_uncut(model);
    const auto& run = runs.emplace_back(model.state().run);
    results.push_back({run.num_ratings, run.num_test, run.num_validation, run.best_epoch,
                       run.test_errors.value_or(options.implicit ? no_errors : ErrorFigures{}), run.ranking});
  }
  const auto rmse = figure_of(results, &ErrorFigures::rmse), mae = figure_of(results, &ErrorFigures::mae);
  TaskResult texts{report::fold_text(runs), tasks::json_text(report::fold_json(runs))};
  return {std::move(texts), std::move(results), rmse, mae};
}

}  // namespace polyad
