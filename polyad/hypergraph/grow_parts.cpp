#include "polyad/hypergraph/grow_parts.hpp"

#include <algorithm>
#include <queue>

#include "polyad/hypergraph/shuffled.hpp"

namespace polyad {

namespace {

constexpr std::uint64_t shuffle_stream = 0x67726f77;
constexpr Index most_pins = 300;  // larger nets say little about who belongs together

class Growth {
 public:
  Growth(const Hypergraph& h, const PartLimits& limits, std::uint64_t seed)
      : h_(h),
        limits_(limits),
        order_(shuffled(h.num_vertices(), Random(seed, shuffle_stream))),
        parts_(std::size_t(h.num_vertices()), nowhere),
        drawn_(std::size_t(h.num_vertices()), 0),
        drawn_by_(std::size_t(h.num_vertices()), nowhere),
        touched_by_(std::size_t(h.num_nets()), nowhere) {
    for (int c = 0; c < h.num_constraints(); ++c) left_.push_back(total_weight(h, c));
  }

  std::vector<int> run() && {
    const auto num_parts = int(limits_[0].size());
    for (int part = 0; part < num_parts; ++part) grow(part, num_parts - part);
    for (auto& part : parts_)
      if (part == nowhere) part = num_parts - 1;
    return std::move(parts_);
  }

 private:
  static constexpr int nowhere = -1;

  // Until the part has its share of what is left, in some constraint.
  void grow(int part, int parts_left) {
    std::vector<Index> wanted;
    for (const Index left : left_) wanted.push_back(left / parts_left);
    std::vector<Index> weight(left_.size(), 0);
    front_ = {};
    while (true) {
      const Index vertex = next();
      if (vertex == nowhere) return;
      parts_[vertex] = part;
      for (std::size_t c = 0; c < left_.size(); ++c) {
        weight[c] += h_.vertex_weight(vertex, int(c));
        left_[c] -= h_.vertex_weight(vertex, int(c));
      }
      for (std::size_t c = 0; c < left_.size(); ++c)
        if (weight[c] >= wanted[c] && wanted[c] > 0) return;
      draw_neighbours(vertex, part);
    }
  }

  Index next() {
    while (!front_.empty()) {
      const auto [attraction, vertex] = front_.top();
      front_.pop();
      if (parts_[vertex] == nowhere && attraction == drawn_[vertex]) return vertex;
    }
    for (; first_ < std::ssize(order_); ++first_)
      if (parts_[order_[first_]] == nowhere) return order_[first_];
    return nowhere;
  }

  void draw_neighbours(Index vertex, int part) {
    for (const auto net : h_.nets(vertex)) {
      if (h_.net_size(net) > most_pins || std::exchange(touched_by_[net], part) == part) continue;
      const double attraction = double(h_.net_weight(net)) / double(h_.net_size(net));
      for (const auto v : h_.pins(net)) {
        if (parts_[v] != nowhere) continue;
        if (std::exchange(drawn_by_[v], part) != part) drawn_[v] = 0;
        drawn_[v] += attraction;
        front_.emplace(drawn_[v], v);
      }
    }
  }

  const Hypergraph& h_;
  const PartLimits& limits_;
  std::vector<LocalIndex> order_;
  Index first_ = 0;  // all in the order before it have parts
  std::vector<int> parts_;
  std::vector<double> drawn_;    // [vertex]: how much the part that grows attracts it
  std::vector<int> drawn_by_;    // [vertex]: the part for which that holds
  std::vector<int> touched_by_;  // [net]: the last part that got a pin
  std::vector<Index> left_;      // [constraint]: weight without part
  std::priority_queue<std::pair<double, LocalIndex>> front_;
};

}  // namespace

std::vector<int> grow_parts(const Hypergraph& h, const PartLimits& limits, std::uint64_t seed) {
  return Growth(h, limits, seed).run();
}

}  // namespace polyad
