#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "polyad/hypergraph/hypergraph.hpp"

namespace polyad::hypergraph {

// The cluster of every vertex; clusters are numbered by their first vertex.
struct Clustering {
  Array<LocalIndex> cluster_of;
  Index num_clusters = 0;
};

struct ClusteringOptions {
  std::vector<Index> max_weight;  // [constraint]: maximum weight of a cluster
  Index min_clusters = 1;         // minimum number of clusters
  std::uint64_t seed = 1;
  std::span<const int> parts;  // [vertex]: clusters do not cross parts; empty: no restriction
};

// Clusters vertices that share small nets. Each vertex examines a few pins of each of its nets,
// regardless of their size, so that the work is linear in the pins. Independent of the number of threads.
Clustering cluster_vertices(const Hypergraph& h, const ClusteringOptions& options);

// Merges clusters to vertices; nets within one are removed, equal nets are merged and their weights added.
Hypergraph contract(const Hypergraph& h, const Clustering& clustering);

}  // namespace polyad::hypergraph
