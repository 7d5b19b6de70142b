#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "polyad/algo/cp/observed_als.hpp"
#include "polyad/algo/ratings/completion_progress.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/tensor/ratings/rating_model.hpp"
#include "polyad/tensor/ratings/split_ratings.hpp"

namespace polyad {

struct AlsCompletionOptions {
  Index num_factors = 16;  // per user and item
  int max_sweeps = 50;     // a sweep solves for every user, then for every item
  Shrinkage shrinkage;
  bool has_biases = true;                 // whether users and items have biases; not with `alpha`
  int patience = 3;                       // as in ObservedOptions
  std::optional<RatingRange> range = {};  // to which predictions are clipped; not with `alpha`
  double tolerance = 0;  // stop when a sweep lowers the loss by less than this part of it; 0: never
  int cg_steps = 0;      // as in ObservedOptions
  std::uint64_t seed = 1;
  std::optional<int> gpu = {};  // as in ObservedOptions
  // With a value: implicit feedback. Every cell counts, with weight 1 towards 0; a rating of value x has
  // weight 1 + alpha * |x| / (mean of |x|), towards 1 if x is positive and towards 0 if not.
  std::optional<double> alpha = {};
};

template <class Real>
struct AlsCompletionResult {
  std::vector<Array<Index>> rows;     // users and items of this process
  std::vector<Matrix<Real>> factors;  // their rows: see ObservedResult
  double mean = 0, scale = 1;         // the model is of (rating - mean) / scale
  double deviation = 1;               // of the ratings: the scale, or 0 where all are equal
  std::vector<EpochRecord> epochs;    // one per sweep
  Index num_restored = 0;             // of these, from a state that training went on from
  int best_epoch = 0;
  CompletionStop stop = CompletionStop::epochs;
  ErrorFigures train;  // of the result
  std::optional<ErrorFigures> test;
  Communication communication;  // of a sweep
  EpochSeconds seconds;
};

// What controls a training whose cells are distributed so.
template <class Real>
using ControlSweeps = std::function<CpControl<Real>(const DistTensor<Real>&)>;

// Matrix completion by alternating least squares. `own`: ratings of this process, users x items; no cell is
// both a training and a test rating, or on two processes. With `alpha` test ratings are not used.
// Deterministic, and up to rounding the same on any number of processes. Collective.
template <class Real>
AlsCompletionResult<Real> als_completion(const Comm& comm, SplitRatings own,
                                         const AlsCompletionOptions& options, Progress& progress,
                                         const CompletionObserver& observe = {},
                                         const ControlSweeps<Real>& control = {});

// The model in the units of the ratings, on process 0. Collective.
template <class Real>
RatingModel<Real> gather_model(const Comm& comm, const AlsCompletionResult<Real>& result, Index num_users,
                               Index num_items, const AlsCompletionOptions& options);

}  // namespace polyad
