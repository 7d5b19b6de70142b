#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "polyad/base/random.hpp"
#include "polyad/hypergraph/hypergraph.hpp"

namespace polyad::test {

enum class Weights { equal, random };

// Nets of all sizes from none to all vertices, small ones more often.
inline hypergraph::Hypergraph random_hypergraph(Index num_vertices, Index num_nets, std::uint64_t seed,
                                                Weights weights = Weights::equal, int num_constraints = 1) {
  const Random random(seed, 1);
  std::uint64_t draw = 0;
  hypergraph::NumberLists pins;
  Array<Index> net_weights;
  for (Index net = 0; net < num_nets; ++net) {
    const double u = random.uniform(draw++);
    const auto wanted = Index(u * u * u * double(num_vertices) + 2.5);
    std::set<LocalIndex> chosen;
    for (Index i = 0; i < wanted; ++i)
      chosen.insert(LocalIndex(random.below(std::uint64_t(num_vertices), draw++)));
    pins.items.insert(pins.items.end(), chosen.begin(), chosen.end());
    pins.begin.push_back(std::ssize(pins.items));
    net_weights.push_back(1 + Index(random.below(5, draw++)));
  }
  if (weights == Weights::equal) return {num_vertices, std::move(pins)};
  std::vector<Array<Index>> vertex_weights;
  for (int c = 0; c < num_constraints; ++c) {
    auto& of = vertex_weights.emplace_back();
    for (Index v = 0; v < num_vertices; ++v) of.push_back(Index(random.below(4, draw++)) + (c == 0));
  }
  return {num_vertices, std::move(pins), std::move(net_weights), std::move(vertex_weights)};
}

inline std::vector<int> parts_at_random(Index num_vertices, int num_parts, std::uint64_t seed) {
  const Random random(seed, 2);
  std::vector<int> parts;
  for (Index v = 0; v < num_vertices; ++v)
    parts.push_back(int(random.below(std::uint64_t(num_parts), std::uint64_t(v))));
  return parts;
}

}  // namespace polyad::test
