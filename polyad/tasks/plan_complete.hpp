#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "polyad/tasks/complete.hpp"
#include "polyad/tasks/context.hpp"
#include "polyad/tasks/tensor.hpp"

namespace polyad {

struct CompletePlanOptions {
  Index factors = 16;  // of the model, from 1 to 100000
  // Of CompleteOptions: what of a row is communicated depends on these.
  bool no_bias = false;
  StepSchedule::Kind schedule = StepSchedule::Kind::adagrad;
  // Ratings that will be held out, and so not learned from: none (default), a fraction or one of each user.
  TestRatings test = {};
  std::vector<int> processes = {};  // numbers of processes to plan for, each from 1 to 65535; required
  // Numbers of sub-epochs to plan for, each from 1 to the smallest of `processes`. Empty: powers of two, the
  // number that `complete` chooses by default, and the largest that makes a difference.
  std::vector<int> sync = {};
  DistributedSide by = DistributedSide::automatic;  // automatic: users, and items
  // Which process gets which of them; nothing: block and random. RatingPartition::hypergraph is refused: set
  // with_hypergraph.
  std::optional<RatingPartition> partition = {};
  std::filesystem::path partition_file = {};  // of users, unless `by` is items; for RatingPartition::file
  // Also try partitions of the ratings' hypergraph, which take time to make and are cached (default: no).
  bool with_hypergraph = false;
  double time_limit_seconds = 60;    // for each of these partitions
  std::filesystem::path cache = {};  // folder of cached partitions; empty: the user's cache folder
  std::uint64_t seed = 1;            // of random partitions
  // How `polyad complete` reads the ratings, as in {"--columns", "user,item,rating"}: repeated in the
  // commands that summary and report show.
  std::vector<std::string> input_arguments = {};
};

// Throws Error{bad_option} for options that make no sense whatever the ratings.
void validate(const CompletePlanOptions& options);

// One way to complete ratings on a number of processes, with what an epoch is predicted to take.
struct CompleteCandidate {
  int processes = 1;
  // For CompleteOptions, to run it on as many processes.
  DistributedSide by = DistributedSide::users;
  RatingPartition partition = RatingPartition::random;
  int sync = 1;               // number of sub-epochs
  bool is_automatic = false;  // whether `complete` chooses this number by default
  double seconds_per_epoch = 0;
  // How far an epoch is predicted to bring the model, compared with one without staleness, which is 1.
  double progress = 1;
  // Words of rows that are out of date when they are used.
  Index staleness_words = 0;
  Index volume_words = 0, max_volume_words = 0;  // sent by all processes, and by the one that sends most
  Index messages = 0, max_messages = 0;          // likewise
  double imbalance = 0;                          // ratings of the largest process over the mean, less one
  double partition_seconds = 0;                  // to make the partition, as measured here
};

// The candidates of a plan. Copies share the same.
class CompletePlan {
 public:
  struct State;  // private to the library
  explicit CompletePlan(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  // By number of processes, distributed side, partition and number of sub-epochs.
  const std::vector<CompleteCandidate>& candidates() const;
  // The fastest to a given error, of those with a progress of at least 0.9; null: none has it.
  const CompleteCandidate* recommended() const;

  // A table for each number of processes as text for people.
  std::string summary() const;
  // All figures as one JSON object; docs/json.md describes its keys.
  std::string json() const;

  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

// Compares the ways to run `complete` on any numbers of processes, without training. The first mode of the
// tensor are users, the second items. Runs on one process: throws Error{bad_option} for a context of several.
CompletePlan plan_complete(const Context& context, const Tensor& ratings, const CompletePlanOptions& options);

// Writes an HTML report that needs nothing else: no network, no script.
void save_report(const Context& context, const CompletePlan& plan, const std::filesystem::path& path);

}  // namespace polyad
