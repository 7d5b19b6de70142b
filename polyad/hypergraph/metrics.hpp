#pragma once

#include <span>
#include <vector>

#include "polyad/hypergraph/hypergraph.hpp"

namespace polyad::hypergraph {

// Metrics of a partition. Lambda of a net is the number of parts that contain its pins.
struct PartitionMetrics {
  Index connectivity = 0;                        // sum of weight * (lambda - 1)
  Index cut_nets = 0;                            // number of nets with lambda > 1
  double lambda_power = 0;                       // sum of weight * lambda^rho over nets with lambda > 1
  Index lambda_max = 0;                          // largest lambda
  std::vector<Index> nets_by_lambda;             // [lambda]: number of nets
  std::vector<std::vector<Index>> part_weights;  // [constraint][part]
  std::vector<double> imbalance;                 // [constraint]: heaviest part divided by the mean, minus 1
  Index empty_parts = 0;                         // parts without a vertex
};

// Computes the metrics; parts[v] is in [0, num_parts).
PartitionMetrics measure_partition(const Hypergraph& h, std::span<const int> parts, int num_parts,
                                   double rho = 2);

// Objective of partitioning: connectivity - 1, or the sum of lambda^rho, where lambda = 1 costs nothing.
struct Objective {
  enum class Kind { connectivity, lambda_power } kind = Kind::connectivity;
  double rho = 2;

  // Cost for a net of weight 1 that touches `lambda` parts, at least one, to touch one more.
  double cost_of_next(Index lambda) const;
  // The same as an integer: in eighths if rho makes costs fractional.
  Index units_of_next(Index lambda) const;
  double of(const PartitionMetrics& metrics) const;
};

}  // namespace polyad::hypergraph
