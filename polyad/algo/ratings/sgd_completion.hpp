#pragma once

#include <optional>
#include <vector>

#include "polyad/algo/ratings/completion_progress.hpp"
#include "polyad/algo/ratings/step_schedule.hpp"
#include "polyad/algo/run_state.hpp"
#include "polyad/distributed/ratings/dist_ratings.hpp"
#include "polyad/tensor/ratings/rating_side.hpp"

namespace polyad {

struct CompletionOptions {
  Index num_factors = 16;  // per user and item
  int max_epochs = 50;     // maximum number of epochs
  StepSchedule step;
  Shrinkage shrinkage;
  bool is_explicit = false;  // steps as published: the regularisation acts where they begin
  bool has_biases = true;    // whether users and items have biases
  // Stop after this number of epochs in which the test error did not decrease by at least 0.01 %,
  // and return the epoch with the lowest test error. 0: never stop early, and return the last epoch.
  int patience = 3;
  std::uint64_t seed = 1;  // seed of initial values and of the order
  RatingRange range;       // predictions are clipped to it before their errors are measured
};

template <class Real>
struct CompletionResult {
  std::vector<RatingRows<Real>> users, items;  // [part of this process]: local rows, of best_epoch
  std::vector<EpochRecord> epochs;
  Index num_restored = 0;  // of these records, from a state that training went on from
  int best_epoch = 0;
  CompletionStop stop = CompletionStop::epochs;
  ErrorFigures train;  // of the result
  std::optional<ErrorFigures> test;
  double last_step = 0;
  Traffic training, evaluation;  // sent by the parts of this process, also to each other
  EpochSeconds seconds;
};

// A trained model to continue from.
template <class Real>
struct EarlierTraining {
  RatingModel<Real> model;
  RatingTraining<Real> training;
  // [user or item of the ratings]: its row in the model; -1: none. Empty: the same.
  std::vector<Index> user_rows = {}, item_rows = {};
};
// Exchanges users and items if items come first, as in the ratings.
template <class Real>
EarlierTraining<Real> transposed(EarlierTraining<Real> earlier, RatingSide first);

// Restores the rows of users and items without training ratings from the earlier model.
template <class Real>
void carry_over(const EarlierTraining<Real>& earlier, TrainedRows<Real>& trained);

TravellingWords travelling_words(const CompletionOptions& options);

// Matrix completion by eta-PASGD (Abubaker et al. 2023; docs/algorithms.md). With as many sub-epochs
// as the largest connectivity it equals the serial algorithm in the order sub-epoch, part, rating. The
// result depends on the parts, not on the processes that have them.
// Moves the training ratings out of x. Returns an earlier model unless an epoch improves on it. Throws
// Error{bad_option} if no step size is small enough, or the earlier model does not fit. States of `controls`
// have the rows of users, then those of items, and may be those of a run with other parts. Collective.
template <class Real>
CompletionResult<Real> sgd_completion(DistRatings<Real>& x, const CompletionOptions& options,
                                      const CompletionObserver& observe = {},
                                      const EarlierTraining<Real>* earlier = nullptr,
                                      const RunControls<Real>& controls = {});

// Why a training ended that was cut short for this reason.
CompletionStop completion_stop(StopReason reason);

// Records of epochs as numbers.
void put_epochs(StateNumbers& numbers, std::span<const EpochRecord> epochs);
std::vector<EpochRecord> take_epochs(StateNumbers& numbers);

}  // namespace polyad
