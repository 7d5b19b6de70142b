#include "polyad/hypergraph/multilevel.hpp"

#include <algorithm>

namespace polyad::hypergraph {

namespace {

constexpr Index vertices_of_part = 60, min_vertices = 15000;  // on the coarsest level
constexpr Index max_shrink = 4;                               // from one level to the next
constexpr double min_shrink = 1.1;

std::vector<int> parts_of_clusters(const Clustering& clustering, std::span<const int> parts) {
  std::vector<int> coarse(std::size_t(clustering.num_clusters));
  for (std::size_t v = 0; v < parts.size(); ++v) coarse[clustering.cluster_of[v]] = parts[v];
  return coarse;
}

}  // namespace

Hierarchy::Hierarchy(const Hypergraph& h, const PartLimits& limits, std::span<const int> parts,
                     std::uint64_t seed)
    : finest_(&h) {
  const Index enough = std::max(vertices_of_part * std::ssize(limits[0]), min_vertices);
  ClusteringOptions options;
  for (const auto& of_parts : limits)
    options.max_weight.push_back(std::max<Index>(std::ranges::min(of_parts) / vertices_of_part, 1));
  std::vector<int> own(parts.begin(), parts.end());
  while (coarsest().num_vertices() > enough) {
    const Hypergraph& finer = coarsest();
    options.min_clusters = std::max(finer.num_vertices() / max_shrink, enough);
    options.seed = seed + coarser_.size();
    options.parts = own;
    auto clustering = cluster_vertices(finer, options);
    if (double(clustering.num_clusters) * min_shrink > double(finer.num_vertices())) return;
    if (!own.empty()) own = parts_of_clusters(clustering, own);
    auto coarse = contract(finer, clustering);
    coarser_.push_back({std::move(clustering), std::move(coarse)});
  }
}

std::vector<int> Hierarchy::refined(std::span<const int> parts, int level) const {
  const auto& cluster_of = coarser_[level].clustering.cluster_of;
  std::vector<int> fine(cluster_of.size());
  for (std::size_t v = 0; v < fine.size(); ++v) fine[v] = parts[cluster_of[v]];
  return fine;
}

std::vector<int> Hierarchy::coarsened(std::span<const int> parts) const {
  std::vector<LocalIndex> cluster_of(parts.size());
  for (std::size_t v = 0; v < parts.size(); ++v) {
    auto cluster = LocalIndex(v);
    for (const auto& level : coarser_) cluster = level.clustering.cluster_of[cluster];
    cluster_of[v] = cluster;
  }
  // By majority vote, after Boyer and Moore: where a part has more than half of the weight, it is found.
  std::vector<int> candidate(std::size_t(coarsest().num_vertices()), 0);
  std::vector<Index> lead(candidate.size(), 0);
  for (std::size_t v = 0; v < parts.size(); ++v) {
    const auto c = cluster_of[v];
    const Index weight = std::max<Index>(finest_->vertex_weight(Index(v)), 1);
    if (candidate[c] == parts[v]) {
      lead[c] += weight;
    } else if (lead[c] >= weight) {
      lead[c] -= weight;
    } else {
      candidate[c] = parts[v];
      lead[c] = weight - lead[c];
    }
  }
  return candidate;
}

}  // namespace polyad::hypergraph
