#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "polyad/base/progress.hpp"
#include "polyad/dist/rotation_costs.hpp"

namespace polyad {

// A way to deal out users: makes [user] for so many parts.
struct UserPartition {
  std::string name;
  std::function<std::vector<int>(int num_parts)> make;
};

struct CompletionPlanOptions {
  std::vector<int> process_counts;
  std::vector<int> sub_epochs;  // to look at; empty: powers of two, what `auto` takes, and the most that help
  std::vector<UserPartition> partitions;
  RowSize row;
  MachineModel machine;
};

// One way to complete a matrix of ratings, and what an epoch would take.
struct PlannedCompletion {
  int processes = 1;
  std::string partition;
  int num_sub_epochs = 1;
  bool is_automatic = false;  // what --sync auto would take
  RotationCosts costs;
  Index connectivity = 0;  // sum over items of parts that rate it, less one
  Index lambda2 = 0;       // sum of squares of the connectivities of items that more than one part rates
  double imbalance = 0;    // largest part's ratings over the mean, less one
  double partition_seconds = 0;
};

struct CompletionPlan {
  Index num_users = 0, num_items = 0, num_ratings = 0;
  std::vector<PlannedCompletion> ways;  // by processes, partition, sub-epochs
  // The quickest of those that leave at most a twentieth of the staleness of one sub-epoch.
  std::optional<std::size_t> recommended;
};

// For any number of processes, on one.
CompletionPlan plan_completion(const SparseTensor<double>& ratings, const CompletionPlanOptions& options,
                               Progress& progress);

}  // namespace polyad
