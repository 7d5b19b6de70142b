#pragma once

#include <optional>

#include "polyad/tasks/complete.hpp"
#include "polyad/tasks/detail/checkpoints/cp_control.hpp"
#include "polyad/tasks/detail/checkpoints/run_control.hpp"
#include "polyad/tasks/detail/ratings/choose_lists.hpp"
#include "polyad/tensor/ratings/split_ratings.hpp"

namespace polyad::tasks {

enum class TrainedModel {
  main,  // of ratings, or with CompleteOptions::implicit of preferences
  lists  // beside that of ratings; its checkpoints have a directory of their own in that of the others
};

// The checkpoints of the training of a model, and what ends it before its end. Functions are collective.
template <class Real>
class TrainingControl {
 public:
  // own: ratings of this process, users x items. first_epoch: of a model that training goes on from.
  // seconds_before: what counts towards CompleteOptions::max_seconds before this moment.
  TrainingControl(const Context& context, const SplitRatings& own, const CompleteOptions& options,
                  TrainedModel model, double seconds_before, Index first_epoch = 0);
  TrainingControl(const TrainingControl&) = delete;
  TrainingControl& operator=(const TrainingControl&) = delete;

  // For states whose first rows are those of this side.
  RunControls<Real> controls(RatingSide first);
  CpControl<Real> control(const DistTensor<Real>& x);
  std::optional<report::CheckpointUse> use() const;

  // Settings of lists as the run that this one goes on from has chosen them, or else chosen now. Where that
  // was cut short, they are the usual ones, and a run that goes on from this one chooses again.
  ListChoice choose(const SparseTensor<double>& own, double power);

 private:
  void say_what_it_goes_on_from() const;

  const Context& context_;
  const CompleteOptions& options_;
  TrainedModel model_;
  std::optional<Checkpoints> checkpoints_;
  std::optional<RunControl<Real>> run_;
  std::optional<CpRunControl<Real>> cp_;
  RunControls<Real> users_first_;
  RunRestart<Real> transposed_;
};

// For tasks of several trainings, which keep no state: refuses the options for it, and a training that a
// signal has ended.
void refuse_checkpoints(const char* field, const CompleteOptions& options);
void require_uncut(const CompletionModel& model);

}  // namespace polyad::tasks
