#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "polyad/hypergraph/hypergraph.hpp"

namespace polyad::hypergraph {

// Which cluster every vertex is in; clusters are numbered by their first vertex.
struct Clustering {
  Array<LocalIndex> cluster_of;
  Index num_clusters = 0;
};

struct ClusteringOptions {
  std::vector<Index> max_weight;  // [constraint]: of a cluster
  Index min_clusters = 1;         // no fewer than these
  std::uint64_t seed = 1;
  std::span<const int> parts;  // [vertex]: clusters stay inside these; empty: no matter
};

// Puts vertices together that share small nets. A vertex looks at a few pins of each of its nets, however
// large they are, so that the work is linear in the pins. The same for any number of threads.
Clustering cluster_vertices(const Hypergraph& h, const ClusteringOptions& options);

// Clusters become vertices; nets inside one disappear, equal nets become one with the sum of their weights.
Hypergraph contract(const Hypergraph& h, const Clustering& clustering);

}  // namespace polyad::hypergraph
