#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "polyad/hypergraph/metrics.hpp"
#include "polyad/hypergraph/partition_kinds.hpp"

namespace polyad::hypergraph {

struct PartitionOptions {
  int num_parts = 2;
  double imbalance = 0.05;     // a fraction
  std::vector<double> shares;  // [part] of all weight; empty: equal
  Objective objective;
  Effort effort = Effort::normal;
  std::uint64_t seed = 1;
  double time_limit_seconds = std::numeric_limits<double>::infinity();
  // Partitions to begin with, beside random ones: [start][vertex]. The result is never worse than the best
  // of those that keep the balance.
  std::vector<std::vector<int>> starts;
  // A partition to refine instead of beginning anew: [vertex], new_vertex where it says nothing.
  std::vector<int> older;
  // Told of every partition that is better than all before.
  std::function<void(std::span<const int> parts, double cost)> on_better;
};

struct PartitionResult {
  std::vector<int> parts;  // [vertex]
  PartitionMetrics metrics;
  bool was_cut_short = false;  // by time_limit_seconds; then the result depends on the speed of the machine
};

// Partitions vertices so that the objective is small and no part weighs more than the balance allows:
// multilevel, k-way, with all threads. Deterministic unless it was cut short.
PartitionResult partition_hypergraph(const Hypergraph& h, const PartitionOptions& options);

}  // namespace polyad::hypergraph
