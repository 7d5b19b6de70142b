#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "polyad/algo/sgd_completion.hpp"
#include "polyad/distributed/ratings/distribute_ratings.hpp"
#include "polyad/tensor/ratings/ranking_metrics.hpp"

namespace polyad::report {

// What a run of `polyad complete` was and what it took, apart from the model itself.
struct CompletionRun {
  Index num_users = 0, num_items = 0, num_ratings = 0, num_test = 0;
  Index num_duplicates = 0;                        // dropped
  Index num_test_duplicates = 0, num_unknown = 0;  // of a test file: dropped; left out
  double mean = 0, scale = 1;
  CompletionOptions options;
  std::string precision, partition = "none", test = "none";
  RatingSide by = RatingSide::user;    // who was dealt out to processes; the rows of the others travel
  std::optional<SideSeconds> weighed;  // what decided that
  int processes = 1, threads = 1;
  std::vector<EpochRecord> epochs;
  int best_epoch = 0;
  CompletionStop stop = CompletionStop::epochs;
  ErrorFigures train;
  std::optional<ErrorFigures> test_errors;
  std::optional<RankingMetrics> ranking;

  // Of an epoch, all processes together; predicted from the rotation.
  int num_sub_epochs = 1;
  RotationCosts predicted;
  Index words_per_row = 1, predicted_volume_words = 0;  // by the identity
  Index volume_words = 0, messages = 0;                 // counted
  Index evaluation_words = 0;                           // of the whole run
  std::vector<Index> rows_by_connectivity;              // [k]: rows that k processes share
  std::vector<EpochSeconds> process_seconds;            // [process], of the whole run
  std::string machine = "built in";

  double load_seconds = 0, distribute_seconds = 0, train_seconds = 0, output_seconds = 0;
  Index peak_memory_bytes = 0;

  Index staleness_words() const { return predicted.staleness_rows * words_per_row; }
  int epochs_run() const { return int(epochs.size()); }  // those that were undone too
  int epochs_undone() const;
  // Whose rows travel.
  RatingSide travelling() const { return by == RatingSide::user ? RatingSide::item : RatingSide::user; }
  // Of training alone, the slowest process.
  double ratings_per_second() const;
};

// Fills in what the library's own results know. x has `by` first. Collective.
template <class Real>
CompletionRun describe_completion(const DistRatings<Real>& x, RatingSide by, const CompletionOptions& options,
                                  const CompletionResult<Real>& result, const MachineModel& machine);

// Words per epoch with 1, 2, ... sub-epochs, until none is stale, or as many as there are: the identities (8)
// and (9) of seed 004.
struct SyncWords {
  Index volume = 0, staleness = 0;

  friend bool operator==(const SyncWords&, const SyncWords&) = default;
};
std::vector<SyncWords> words_over_sub_epochs(const CompletionRun& run);

// What was predicted by users and by items, and who was dealt out: of a run that has weighed them.
std::string weighed_text(const CompletionRun& run);

nlohmann::ordered_json completion_json(const CompletionRun& run);
std::string completion_text(const CompletionRun& run);
// One line while it runs.
std::string epoch_text(const EpochRecord& record);

}  // namespace polyad::report
