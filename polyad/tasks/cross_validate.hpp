#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "polyad/tasks/complete.hpp"
#include "polyad/tasks/task_result.hpp"

namespace polyad {

// One training of a cross-validation, and its test.
struct FoldResult {
  Index num_ratings = 0, num_test = 0, num_validation = 0;
  int best_epoch = 0;
  ErrorFigures test;                      // nan in implicit feedback
  std::optional<RankingMetrics> ranking;  // nothing where CompleteOptions::ranking is 0
};

// A figure over the folds.
struct FoldFigure {
  double mean = 0;
  double deviation = 0;  // standard deviation of one fold, with folds - 1 degrees of freedom
};

class CrossValidation : public TaskResult {
 public:
  CrossValidation(TaskResult texts, std::vector<FoldResult> folds, FoldFigure rmse, FoldFigure mae)
      : TaskResult(std::move(texts)), folds_(std::move(folds)), rmse_(rmse), mae_(mae) {}

  const std::vector<FoldResult>& folds() const { return folds_; }
  const FoldFigure& rmse() const { return rmse_; }  // on the test ratings
  const FoldFigure& mae() const { return mae_; }

 private:
  std::vector<FoldResult> folds_;
  FoldFigure rmse_, mae_;
};

inline constexpr int max_folds = 1000;

// Trains `folds` models, from 2 to max_folds: ratings are divided at random, by options.seed, into this
// number of parts, and each model is tested on one part after it was trained on the others. Without
// options.validate, and unless options.patience is 0, a tenth of the training ratings chooses the epoch; in
// implicit feedback nothing does. options.test and options.resume must be empty. Messages are those of the
// first training. Collective.
CrossValidation cross_validate(const Context& context, Tensor ratings, CompleteOptions options, int folds);

}  // namespace polyad
