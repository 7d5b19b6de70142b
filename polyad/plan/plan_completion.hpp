#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "polyad/base/progress.hpp"
#include "polyad/distributed/ratings/rotation_costs.hpp"
#include "polyad/tensor/ratings/rating_side.hpp"

namespace polyad {

// A way to distribute users, or items, over `num_parts` parts.
struct SidePartition {
  RatingSide by = RatingSide::user;
  std::string name;
  std::function<RowOwners(int num_parts)> make;
  std::optional<int> only_for = {};  // this number of processes; nothing: for all of them
};

struct CompletionPlanOptions {
  std::vector<int> process_counts;  // numbers of processes to plan for
  std::vector<int> sub_epochs;      // to evaluate; empty: powers of two, that of `auto`, the most useful
  std::vector<SidePartition> partitions;
  RowSize row;
  MachineModel machine;
};

// One way to distribute matrix completion, with its predicted costs per epoch.
struct PlannedCompletion {
  int processes = 1;
  RatingSide by = RatingSide::user;  // the side that is distributed; rows of the other are communicated
  std::string partition;
  int num_sub_epochs = 1;
  bool is_automatic = false;  // whether `--sync auto` chooses this number of sub-epochs
  RotationCosts costs;
  Index connectivity = 0;        // sum of (number of parts with ratings of a row - 1) over communicated rows
  Index lambda2 = 0;             // sum of the squared number of parts over rows with more than one part
  double imbalance = 0;          // ratings of the largest part divided by the mean, minus 1
  double partition_seconds = 0;  // time to compute the partition, measured
};

struct CompletionPlan {
  Index num_users = 0, num_items = 0, num_ratings = 0;
  std::vector<PlannedCompletion> ways;  // ordered by processes, side and partition, sub-epochs
  // The fastest to a given error, of those with least_progress or more; nothing: there is none.
  std::optional<std::size_t> recommended;
};

// Plans matrix completion for any numbers of processes. Runs on one process.
CompletionPlan plan_completion(SparseTensor<double> ratings, const CompletionPlanOptions& options,
                               Progress& progress);

}  // namespace polyad
