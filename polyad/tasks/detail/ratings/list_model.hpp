#pragma once

#include "polyad/algo/ratings/als_completion.hpp"
#include "polyad/report/completion_report.hpp"
#include "polyad/tasks/complete.hpp"

namespace polyad::tasks {

template <class Real>
class TrainingControl;

// Regularisation of models that are trained for lists.
inline constexpr Shrinkage list_shrinkage{0.2, 20};

// Of scores, likewise.
inline constexpr double usual_popularity = 0.25;

// Of ratings, in a model for lists beside that of ratings. Chosen, like the others, by the NDCG on validation
// ratings (docs/complete.md). What is learned from counts alone (CompleteOptions::implicit) takes them as
// they are.
inline constexpr double list_power = 3;

// Whether a model for lists is trained beside that of ratings.
bool trains_lists(const CompleteOptions& options);

// Throws Error{bad_option} for options about lists that cannot be had, or that have no effect.
void check_lists(const CompleteOptions& options);

// Options of least squares for implicit feedback, which begin anew also where a training is resumed. The
// device was chosen.
AlsCompletionOptions list_options(const CompleteOptions& options, const Shrinkage& shrinkage);

// The magnitudes of ratings to this power, divided by a number that is the same for all. Collective.
SparseTensor<double> powers_of(const Comm& comm, SparseTensor<double> own, double power);

// Sets the biases of items to `popularity` times the share of the users with ratings that rated them
// positively, and what neighbours count. Where these count, so do their ratings by their weight: the shares
// are of the sums of weights then.
template <class Real>
void rank_by(RatingModel<Real>& model, const SparseTensor<double>& ratings, double popularity,
             double neighbours, const RatingConfidence& confidence);

template <class Real>
struct TrainedLists {
  AlsCompletionOptions options;
  AlsCompletionResult<Real> result;  // of this process
  double popularity = 0, neighbours = 0;
  double seconds = 0;                          // with the choice of settings
  std::vector<report::ListTrial> trials = {};  // that chose these and the regularisation
  std::optional<StopReason> cut_short = {};    // before its first sweep: there is no model
};
// `own`: training ratings of this process, users x items. Collective.
template <class Real>
TrainedLists<Real> train_lists(const Context& context, SparseTensor<double> own,
                               const CompleteOptions& options, TrainingControl<Real>& control);

// `ratings`: all training ratings, where this is process 0, which gets the model. Collective.
template <class Real>
ListModel<Real> gather_lists(const Comm& comm, const TrainedLists<Real>& trained,
                             const SparseTensor<double>& ratings);

}  // namespace polyad::tasks
