#pragma once

#include <optional>

#include "polyad/algo/ratings/completion_progress.hpp"
#include "polyad/base/types.hpp"

namespace polyad {

// One training of a search for settings, measured on validation ratings.
struct SearchTrial {
  Index factors = 0;
  double regularisation = 0;
  std::optional<double> learning_rate = {};  // of gradient descent
  std::optional<double> alpha = {};          // of implicit feedback
  int best_epoch = 0;
  std::optional<ErrorFigures> errors = {};  // nothing in implicit feedback
  std::optional<double> ndcg = {};          // of the lists, in implicit feedback
  double seconds = 0;
  bool is_chosen = false;  // the one with the lowest RMSE, or the highest NDCG; of equal ones the first
};

}  // namespace polyad
