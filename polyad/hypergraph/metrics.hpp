#pragma once

#include <span>
#include <vector>

#include "polyad/hypergraph/hypergraph.hpp"

namespace polyad::hypergraph {

// What a partition of the vertices costs. Lambda of a net is the number of parts that hold pins of it.
struct PartitionMetrics {
  Index connectivity = 0;   // sum of weight * (lambda - 1)
  Index cut_nets = 0;       // nets with lambda > 1, by number
  double lambda_power = 0;  // sum of weight * lambda^rho over nets with lambda > 1
  Index lambda_max = 0;
  std::vector<Index> nets_by_lambda;             // [lambda]
  std::vector<std::vector<Index>> part_weights;  // [constraint][part]
  std::vector<double> imbalance;                 // [constraint]: heaviest part over the mean, less 1
  Index empty_parts = 0;                         // without a vertex
};

// parts[v] is in [0, num_parts).
PartitionMetrics measure_partition(const Hypergraph& h, std::span<const int> parts, int num_parts,
                                   double rho = 2);

// How a partition is judged: by connectivity - 1, or by the sum of lambda^rho, where lambda = 1 is free.
struct Objective {
  enum class Kind { connectivity, lambda_power } kind = Kind::connectivity;
  double rho = 2;

  // What it costs a net of weight 1 that touches `lambda` parts, at least one, to touch one more.
  double cost_of_next(Index lambda) const;
  // The same as a whole number: in eighths where rho makes costs that are none.
  Index units_of_next(Index lambda) const;
  double of(const PartitionMetrics& metrics) const;
};

}  // namespace polyad::hypergraph
