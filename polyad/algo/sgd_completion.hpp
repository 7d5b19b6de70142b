#pragma once

#include <optional>
#include <vector>

#include "polyad/algo/completion_progress.hpp"
#include "polyad/algo/step_schedule.hpp"
#include "polyad/distributed/ratings/dist_ratings.hpp"
#include "polyad/tensor/ratings/rating_side.hpp"

namespace polyad {

struct CompletionOptions {
  Index num_factors = 16;
  int max_epochs = 50;
  StepSchedule step;
  Shrinkage shrinkage;
  bool has_biases = true;
  // Training stops after so many epochs in which the test error did not fall by at least 0.01 %, and returns
  // the epoch with the lowest test error. 0: it never stops early, and returns the last epoch.
  int patience = 3;
  std::uint64_t seed = 1;
};

// Where a process spends its time, in seconds.
struct EpochSeconds {
  double learn = 0, communicate = 0, wait = 0, evaluate = 0;
};

template <class Real>
struct CompletionResult {
  RatingRows<Real> users, items;  // local rows, of best_epoch
  std::vector<EpochRecord> epochs;
  int best_epoch = 0;
  CompletionStop stop = CompletionStop::epochs;
  ErrorFigures train;  // of the result
  std::optional<ErrorFigures> test;
  double last_step = 0;
  Traffic training, evaluation;  // sent by this process
  EpochSeconds seconds;
};

// A model that was trained before, to go on from.
template <class Real>
struct EarlierTraining {
  RatingModel<Real> model;
  RatingTraining<Real> training;
  // [user or item of the ratings]: its row in the model; -1: none. Empty: the same.
  std::vector<Index> user_rows = {}, item_rows = {};
};
// As the ratings that it is to be trained on are turned.
template <class Real>
EarlierTraining<Real> turned(EarlierTraining<Real> earlier, RatingSide first);

// Gives users and items that nothing was learned about now the rows that they had.
template <class Real>
void carry_over(const EarlierTraining<Real>& earlier, TrainedRows<Real>& trained);

TravellingWords travelling_words(const CompletionOptions& options);

// Eta-PASGD (ALGORITHMS, section 4). With as many sub-epochs as the largest connectivity it is the serial
// algorithm, in the order: sub-epoch, process, rating. Takes the training ratings out of x. An earlier model
// is the best until an epoch is better. Throws Error{bad_option} when no step is small enough, or the earlier
// model is far off. Collective.
template <class Real>
CompletionResult<Real> sgd_completion(DistRatings<Real>& x, const CompletionOptions& options,
                                      const CompletionObserver& observe = {},
                                      const EarlierTraining<Real>* earlier = nullptr);

}  // namespace polyad
