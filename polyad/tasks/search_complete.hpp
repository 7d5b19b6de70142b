#pragma once

#include <functional>
#include <string>
#include <vector>

#include "polyad/algo/ratings/search_trial.hpp"
#include "polyad/tasks/complete.hpp"

namespace polyad {

// The values that a search tries for each setting; empty: only the value of the options.
struct SearchGrid {
  std::vector<Index> factors = {};
  std::vector<double> regularisation = {};
  std::vector<double> learning_rate = {};  // of CompletionMethod::sgd
  std::vector<double> alpha = {};          // of CompleteOptions::implicit
};

// Values around those of the options: 8, 16, 32 and 64 factors; half, one and two times the regularisation;
// the same of the learning rate, or a third, one and three times alpha, whichever the method has.
SearchGrid usual_grid(const CompleteOptions& options);

inline constexpr Index max_trials = 1000;

struct CompletionSearch {
  std::vector<SearchTrial> trials;  // every combination of the values, the last setting fastest
  CompletionModel model;            // of the chosen trial; its texts and its page have the trials too
};

// Trains a model with every combination of the values of the grid and measures each on validation ratings:
// by the RMSE, in implicit feedback by the NDCG of options.ranking recommendations. Then trains with the
// combination that is best. Validation ratings are those of options.validate, or, where there are none, a
// tenth of the ratings; test ratings are seen by no trial. The validation ratings also choose the epoch of
// the model, unless options.patience is 0 or feedback is implicit: then the model learns from them.
// options.resume must be empty. Messages are those of the model's own training; `observer` is called after
// each trial, on every process. Collective.
using SearchObserver = std::function<void(const SearchTrial&)>;
CompletionSearch search_complete(const Context& context, Tensor ratings, CompleteOptions options,
                                 const SearchGrid& grid, const SearchObserver& observer = {});

// One line on a trial for people: its settings, what was measured, and its time.
std::string to_text(const SearchTrial& trial);

}  // namespace polyad
