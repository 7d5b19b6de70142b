#include <algorithm>
#include <numeric>
#include <utility>

#include "polyad/base/parallel.hpp"
#include "polyad/base/radix_sort.hpp"
#include "polyad/hypergraph/clustering.hpp"

namespace polyad::hypergraph {

namespace {

// The clusters that each net touches, ascending; nets inside one cluster have none.
NumberLists touched_clusters(const Hypergraph& h, const Clustering& clustering) {
  NumberLists touched{Array<Index>(std::size_t(h.num_nets()) + 1, 0),
                      Array<LocalIndex>(std::size_t(h.num_pins()))};
  parallel_parts(h.num_nets(), [&](Index begin, Index end, int) {
    std::vector<Index> last(std::size_t(clustering.num_clusters), -1);
    for (Index net = begin; net < end; ++net) {
      const Index first = h.pins().begin[net];
      Index count = 0;
      for (const auto v : h.pins(net)) {
        const auto cluster = clustering.cluster_of[v];
        if (std::exchange(last[cluster], net) != net) touched.items[first + count++] = cluster;
      }
      if (count == 1) count = 0;
      std::sort(touched.items.begin() + first, touched.items.begin() + first + count);
      touched.begin[net + 1] = count;
    }
  });
  // Closes the gaps.
  for (Index net = 0; net < h.num_nets(); ++net) {
    const Index count = touched.begin[net + 1], to = touched.begin[net];
    std::copy_n(touched.items.begin() + h.pins().begin[net], count, touched.items.begin() + to);
    touched.begin[net + 1] = to + count;
  }
  touched.items.resize(std::size_t(touched.begin.back()));
  return touched;
}

// [net]: the first net with the same pins.
Array<LocalIndex> first_equals(const NumberLists& nets) {
  Array<KeyedPosition> by_hash(std::size_t(nets.num_lists()));
  parallel_for(nets.num_lists(), [&](Index net) {
    std::uint64_t hash = 0;
    for (const auto v : nets[net]) hash = (hash ^ v) * 0x9e3779b97f4a7c15 + (hash >> 29);
    by_hash[net] = {hash, net};
  });
  radix_sort(by_hash, 64);
  Array<LocalIndex> first(std::size_t(nets.num_lists()));
  for (std::size_t i = 0; i < by_hash.size(); ++i) {
    const Index net = by_hash[i].position;
    first[net] = LocalIndex(net);
    // Stable: those before with the same hash have lower numbers.
    for (std::size_t j = i; j-- > 0 && by_hash[j].key == by_hash[i].key;)
      if (std::ranges::equal(nets[by_hash[j].position], nets[net])) {
        first[net] = first[by_hash[j].position];
        break;
      }
  }
  return first;
}

std::vector<Array<Index>> cluster_weights(const Hypergraph& h, const Clustering& clustering) {
  std::vector<Array<Index>> weights;
  for (int c = 0; c < h.num_constraints(); ++c) {
    auto& sums = weights.emplace_back(std::size_t(clustering.num_clusters), 0);
    for (Index v = 0; v < h.num_vertices(); ++v) sums[clustering.cluster_of[v]] += h.vertex_weight(v, c);
  }
  return weights;
}

}  // namespace

Hypergraph contract(const Hypergraph& h, const Clustering& clustering) {
  const auto touched = touched_clusters(h, clustering);
  const auto first = first_equals(touched);
  Array<Index> weights(std::size_t(h.num_nets()), 0);
  for (Index net = 0; net < h.num_nets(); ++net) weights[first[net]] += h.net_weight(net);

  NumberLists pins;
  Array<Index> kept_weights;
  for (Index net = 0; net < h.num_nets(); ++net) {
    if (first[net] != net || touched.length(net) == 0) continue;
    pins.items.insert(pins.items.end(), touched[net].begin(), touched[net].end());
    pins.begin.push_back(std::ssize(pins.items));
    kept_weights.push_back(weights[net]);
  }
  return {clustering.num_clusters, std::move(pins), std::move(kept_weights), cluster_weights(h, clustering)};
}

}  // namespace polyad::hypergraph
