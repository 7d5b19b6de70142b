#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "polyad/base/progress.hpp"
#include "polyad/distributed/ratings/rotation_costs.hpp"
#include "polyad/tensor/ratings/rating_side.hpp"

namespace polyad {

// A way to deal out users, or items, to so many parts.
struct SidePartition {
  RatingSide by = RatingSide::user;
  std::string name;
  std::function<RowOwners(int num_parts)> make;
};

struct CompletionPlanOptions {
  std::vector<int> process_counts;
  std::vector<int> sub_epochs;  // to look at; empty: powers of two, what `auto` takes, and the most that help
  std::vector<SidePartition> partitions;
  RowSize row;
  MachineModel machine;
};

// One way to complete a matrix of ratings, and what an epoch would take.
struct PlannedCompletion {
  int processes = 1;
  RatingSide by = RatingSide::user;  // who is dealt out; the rows of the others travel
  std::string partition;
  int num_sub_epochs = 1;
  bool is_automatic = false;  // what --sync auto would take
  RotationCosts costs;
  Index connectivity = 0;  // sum over rows that travel of the parts that have ratings of it, less one
  Index lambda2 = 0;       // sum of squares of the connectivities of rows that more than one part has
  double imbalance = 0;    // largest part's ratings over the mean, less one
  double partition_seconds = 0;
};

struct CompletionPlan {
  Index num_users = 0, num_items = 0, num_ratings = 0;
  std::vector<PlannedCompletion> ways;  // by processes, side and partition, sub-epochs
  // The quickest of those that leave at most a twentieth of the staleness of one sub-epoch.
  std::optional<std::size_t> recommended;
};

// For any number of processes, on one.
CompletionPlan plan_completion(SparseTensor<double> ratings, const CompletionPlanOptions& options,
                               Progress& progress);

}  // namespace polyad
