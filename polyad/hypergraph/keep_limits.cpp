#include "polyad/hypergraph/keep_limits.hpp"

#include <algorithm>
#include <numeric>

#include "polyad/hypergraph/refine.hpp"

namespace polyad::hypergraph {

namespace {

// The heaviest vertices first: each stays where it is if there is room, or goes where there is most.
std::vector<int> fitted(const Hypergraph& h, std::span<const int> parts, const PartLimits& limits) {
  auto room = limits;
  const auto fits = [&](Index vertex, int part) {
    for (int c = 0; c < h.num_constraints(); ++c)
      if (room[std::size_t(c)][std::size_t(part)] < h.vertex_weight(vertex, c)) return false;
    return true;
  };
  std::vector<Index> weights(parts.size(), 0), order(parts.size());
  for (Index v = 0; v < h.num_vertices(); ++v)
    for (int c = 0; c < h.num_constraints(); ++c) weights[std::size_t(v)] += h.vertex_weight(v, c);
  std::iota(order.begin(), order.end(), Index(0));
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](Index v) { return weights[std::size_t(v)]; });
  std::vector<int> result(parts.begin(), parts.end());
  for (const Index v : order) {
    int& part = result[std::size_t(v)];
    if (!fits(v, part)) {
      const auto& of_parts = room[std::size_t(heaviest_constraint(h, v, limits))];
      part = int(std::ranges::max_element(of_parts) - of_parts.begin());
    }
    for (int c = 0; c < h.num_constraints(); ++c)
      room[std::size_t(c)][std::size_t(part)] -= h.vertex_weight(v, c);
  }
  return result;
}

}  // namespace

void keep_limits(const Hypergraph& h, std::vector<int>& parts, const PartLimits& limits,
                 const Objective& objective) {
  {
    Refiner refiner(h, parts, limits, objective);
    if (refiner.rebalance() || refiner.exchange()) return;
  }
  double least = overload_of(h, parts, limits);
  for (auto other : {fitted(h, parts, limits), random_parts(h, limits, 1)}) {
    const double overload = overload_of(h, other, limits);
    if (overload >= least) continue;
    least = overload;
    parts = std::move(other);
    if (least == 0) return;
  }
}

}  // namespace polyad::hypergraph
