#include "polyad/hypergraph/previous_partition.hpp"

#include <algorithm>

namespace polyad::hypergraph {

namespace {

constexpr Index max_pins_per_side = 32;  // neighbours considered in a net, on either side

class Placement {
 public:
  Placement(const Hypergraph& h, std::vector<int>& parts, const PartLimits& limits)
      : h_(h), parts_(parts), remaining_(limits), votes_(limits[0].size(), 0) {
    for (Index v = 0; v < h.num_vertices(); ++v)
      if (parts_[v] != new_vertex) take(v, parts_[v]);
  }

  void place(Index vertex) {
    std::ranges::fill(votes_, 0);
    for (const auto net : h_.nets(vertex)) ask(vertex, net);
    int best = 0;
    for (int part = 1; part < std::ssize(votes_); ++part)
      if (rank_of(vertex, part) > rank_of(vertex, best)) best = part;
    parts_[vertex] = best;
    take(vertex, best);
  }

 private:
  struct Rank {
    bool fits;
    double votes;
    Index remaining;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };

  Rank rank_of(Index vertex, int part) const {
    bool fits = true;
    for (int c = 0; c < h_.num_constraints(); ++c)
      fits = fits && remaining_[c][part] >= h_.vertex_weight(vertex, c);
    return {fits, votes_[part], remaining_[0][part]};
  }

  void ask(Index vertex, Index net) {
    const auto pins = h_.pins(net);
    const Index at = std::ranges::lower_bound(pins, LocalIndex(vertex)) - pins.begin();
    const Index end = std::min<Index>(at + max_pins_per_side, std::ssize(pins));
    for (Index i = std::max<Index>(at - max_pins_per_side, 0); i < end; ++i)
      if (const int part = parts_[pins[std::size_t(i)]]; part != new_vertex)
        votes_[part] += double(h_.net_weight(net)) / double(std::ssize(pins));
  }

  void take(Index vertex, int part) {
    for (int c = 0; c < h_.num_constraints(); ++c) remaining_[c][part] -= h_.vertex_weight(vertex, c);
  }

  const Hypergraph& h_;
  std::vector<int>& parts_;
  PartLimits remaining_;
  std::vector<double> votes_;
};

}  // namespace

std::vector<int> place_new_vertices(const Hypergraph& h, std::span<const int> previous,
                                    const PartLimits& limits) {
  std::vector<int> parts(previous.begin(), previous.end());
  Placement placement(h, parts, limits);
  for (Index v = 0; v < h.num_vertices(); ++v)
    if (parts[v] == new_vertex) placement.place(v);
  return parts;
}

std::vector<int> parts_of_grown_modes(std::span<const int> previous, std::span<const Index> previous_extents,
                                      std::span<const Index> extents) {
  std::vector<int> parts;
  for (std::size_t m = 0; m < extents.size(); ++m) {
    const auto of_mode = previous.first(std::size_t(previous_extents[m]));
    parts.insert(parts.end(), of_mode.begin(), of_mode.end());
    parts.insert(parts.end(), std::size_t(extents[m] - previous_extents[m]), new_vertex);
    previous = previous.subspan(of_mode.size());
  }
  return parts;
}

}  // namespace polyad::hypergraph
