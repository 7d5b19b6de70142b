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
  int num_parts = 2;               // number of parts
  double imbalance = 0.05;         // maximum weight of a part divided by the mean, minus 1
  std::vector<double> shares;      // [part]: fraction of the total weight; empty: equal
  Objective objective;             // what is minimised
  Effort effort = Effort::normal;  // how much is tried
  std::uint64_t seed = 1;          // seed of the random numbers
  double time_limit_seconds = std::numeric_limits<double>::infinity();
  // Initial partitions in addition to random ones: [start][vertex]. The
  // result is never worse than the best of those that are balanced.
  std::vector<std::vector<int>> starts;
  // A partition to refine instead of starting anew: [vertex]; new_vertex for vertices without a part.
  std::vector<int> previous;
  // Called for every partition that is better than all before.
  std::function<void(std::span<const int> parts, double cost)> on_better;
};

struct PartitionResult {
  std::vector<int> parts;  // [vertex]
  PartitionMetrics metrics;
  bool was_cut_short = false;  // by time_limit_seconds; the result then depends on the speed of the machine
};

// Partitions the vertices so that the objective is small and no part exceeds the balance
// limit: multilevel, k-way, with all threads. Deterministic unless the time limit ended it.
PartitionResult partition_hypergraph(const Hypergraph& h, const PartitionOptions& options);

}  // namespace polyad::hypergraph
