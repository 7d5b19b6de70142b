#pragma once

#include "polyad/distributed/ratings/distribute_ratings.hpp"

namespace polyad {

// What one process does with the whole model after training.
struct AfterTraining {
  bool saves = false, ranks = false, reports = false;

  bool gathers() const { return saves || ranks || reports; }
};

// Predicted memory, in bytes, of the process that needs most.
struct CompletionMemory {
  double train = 0;
  double test = 0;    // comparing the model with predictions that need no factors; 0 without test ratings
  double finish = 0;  // gathering the model on one process; 0 where that is not done
};

// `own` are the ratings of this process. `num_earlier_rows` are the users and items of the model that
// training is resumed from, which every process holds. Collective.
template <class Real>
CompletionMemory predict_completion_memory(const Comm& comm, const DistributedRatings& own, Index num_factors,
                                           const AfterTraining& after, Index num_earlier_rows);

// What else a process holds while least squares are trained.
enum class Beside { nothing, model_of_ratings };

// The same for alternating least squares. `own` are the ratings of this process, with users or items first.
// The numbers of bytes are measured ones, rounded up. Collective.
template <class Real>
CompletionMemory predict_least_squares_memory(const Comm& comm, const SplitRatings& own, Index num_factors,
                                              const AfterTraining& after, Beside beside);

}  // namespace polyad
