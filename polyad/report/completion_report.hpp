#pragma once

#include <algorithm>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "polyad/algo/ratings/als_completion.hpp"
#include "polyad/algo/ratings/search_trial.hpp"
#include "polyad/algo/ratings/sgd_completion.hpp"
#include "polyad/distributed/ratings/baselines.hpp"
#include "polyad/distributed/ratings/distribute_ratings.hpp"
#include "polyad/report/checkpoint_use.hpp"
#include "polyad/tensor/ratings/ranking_metrics.hpp"

namespace polyad::report {

// Settings of a model for lists, and how good its lists were on training ratings that it did not learn from.
struct ListTrial {
  Shrinkage shrinkage;
  double popularity = 0, neighbours = 0;
  double ndcg = 0;
  bool is_chosen = false;
};

// Training of a second model, for lists.
struct ListTraining {
  double alpha = 0, popularity = 0, neighbours = 0, power = 1;
  Shrinkage shrinkage;
  Index sweeps = 0;
  CompletionStop stop = CompletionStop::epochs;
  double seconds = 0;
  std::string device = "cpu";  // or the number and the name of a GPU
};

// Options, results and costs of a run of `polyad complete`, without the model itself.
struct CompletionRun {
  std::string ended_after = {};   // where the training was when it ended: "epoch 12 of at most 50"
  bool is_asked_to_stop = false;  // by a signal, in its last epoch or later
  Index num_users = 0, num_items = 0, num_ratings = 0, num_test = 0;
  Index num_duplicates = 0;                        // ratings dropped
  Index num_test_duplicates = 0, num_unknown = 0;  // of a test file: dropped; skipped
  double mean = 0, deviation = 1;
  CompletionOptions options;  // of these, alternating least squares use those that are not of steps
  bool is_als = false;
  std::optional<double> alpha = {};  // of implicit feedback
  int cg_steps = 0;                  // with least squares, of conjugate gradients; 0: systems are factorised
  double popularity = 0, neighbours = 0;  // in scores of implicit feedback
  std::optional<ListTraining> lists = {};
  std::vector<ListTrial> list_trials = {};  // that chose settings of lists; empty: nothing was chosen
  std::string precision, partition = "none", test = "none";
  bool has_random_owners = false;    // whether any of the processes that share a row averages it
  RatingSide by = RatingSide::user;  // the side that is distributed; rows of the other are communicated
  std::optional<SideSeconds> side_seconds;  // predictions for both sides, if compared
  int processes = 1, threads = 1;
  std::string device = "cpu";  // or the number and the name of the GPU that trained the first model
  int virtual_processes = 0;   // that the processes acted for; 0: they did not
  std::vector<EpochRecord> epochs;
  int num_restored = 0;  // of these, of an earlier run that this one went on from by a checkpoint
  std::optional<CheckpointUse> checkpoint;
  int best_epoch = 0;
  CompletionStop stop = CompletionStop::epochs;
  ErrorFigures train;
  std::optional<ErrorFigures> test_errors;
  Index num_validation = 0;                       // ratings that chose the epoch, if others than test ratings
  std::optional<ErrorFigures> validation_errors;  // on them
  std::string validate = "none";
  std::optional<BaselineErrors> baselines;  // on the test ratings, like test_errors
  std::optional<RankingMetrics> ranking;
  std::vector<SearchTrial> search;  // that chose the settings; empty: there was no search

  // Totals of an epoch over all processes; predicted from the rotation.
  int num_sub_epochs = 1;
  RotationCosts predicted;
  Index words_per_row = 1, predicted_volume_words = 0;  // by the volume identity
  Index volume_words = 0, messages = 0;                 // counted
  Index evaluation_words = 0;                           // of the whole run
  std::vector<Index> rows_by_connectivity;              // [k]: number of rows that k processes share
  std::vector<EpochSeconds> process_seconds;            // [process], of the whole run
  std::string machine = "built in";

  double load_seconds = 0, distribute_seconds = 0, train_seconds = 0, output_seconds = 0;
  Index peak_memory_bytes = 0;

  int parts() const { return std::max(processes, virtual_processes); }
  Index staleness_words() const { return predicted.staleness_rows * words_per_row; }
  int epochs_run() const { return int(epochs.size()); }            // including those undone
  int epochs_here() const { return epochs_run() - num_restored; }  // that took the time of this run
  int epochs_undone() const;
  // What chose the epoch: "validation", "test", or "last" where it is the last.
  const char* chosen_by() const;
  // The side whose rows are communicated.
  RatingSide travelling() const { return by == RatingSide::user ? RatingSide::item : RatingSide::user; }
  // Of training only, by the slowest process.
  double ratings_per_second() const;
};

// Describes the result of a training. x has `by` first. Collective.
template <class Real>
CompletionRun describe_completion(const DistRatings<Real>& x, RatingSide by, const CompletionOptions& options,
                                  const CompletionResult<Real>& result, const MachineModel& machine);
// The same of alternating least squares. `own`: the ratings of this process, users first; `alpha`: of
// implicit feedback. Collective.
template <class Real>
CompletionRun describe_completion(const Comm& comm, const SplitRatings& own, const CompletionOptions& options,
                                  const AlsCompletionResult<Real>& result, std::optional<double> alpha);

// Volume and staleness in words per epoch with 1, 2, ... sub-epochs, up to the number without staleness or
// that of the run, whichever is larger: equations (8) and (9) of Abubaker et al. 2023 (docs/algorithms.md).
struct SyncWords {
  Index volume = 0, staleness = 0;

  friend bool operator==(const SyncWords&, const SyncWords&) = default;
};
std::vector<SyncWords> words_over_sub_epochs(const CompletionRun& run);

// Predictions for both sides and the one that is distributed; requires `side_seconds`.
std::string side_seconds_text(const CompletionRun& run);

// "alternating least squares", "implicit feedback with alpha 1, 3 steps of conjugate gradients", or the
// schedule of gradient descent.
std::string method_text(const CompletionRun& run);

nlohmann::ordered_json completion_json(const CompletionRun& run);
std::string completion_text(const CompletionRun& run);
// The line that is printed after an epoch. In implicit feedback, which has no errors, it shows the loss.
std::string epoch_text(const EpochRecord& record);

}  // namespace polyad::report
