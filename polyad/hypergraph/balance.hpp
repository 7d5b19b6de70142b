#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "polyad/hypergraph/hypergraph.hpp"

namespace polyad::hypergraph {

// The most that each part may weigh: [constraint][part].
using PartLimits = std::vector<std::vector<Index>>;

// (1 + imbalance) times the part's share of all weight, but not less than what the heaviest vertex needs or
// than a whole number of equal vertices does. shares: [part], sum 1; empty: equal.
PartLimits part_limits(const Hypergraph& h, int num_parts, double imbalance,
                       std::span<const double> shares = {});

// What the parts weigh, beside their limits.
class Balance {
 public:
  Balance(const Hypergraph& h, std::span<const int> parts, const PartLimits& limits);

  bool fits(Index vertex, int part) const {
    for (int c = 0; c < num_constraints_; ++c)
      if (room_[c][part] < h_->vertex_weight(vertex, c)) return false;
    return true;
  }
  bool is_overloaded(int part) const {
    for (int c = 0; c < num_constraints_; ++c)
      if (room_[c][part] < 0) return true;
    return false;
  }
  // What the part could still take, in one constraint.
  Index room(int part, int constraint = 0) const { return room_[constraint][part]; }
  // Whether the two parts weigh more alike if the vertex moves.
  bool evens_out(Index vertex, int from, int to) const;
  Index num_vertices(int part) const { return num_vertices_[part]; }
  void move(Index vertex, int from, int to);

 private:
  const Hypergraph* h_;
  int num_constraints_;
  std::vector<std::vector<Index>> room_;  // [constraint][part]
  std::vector<Index> num_vertices_;       // [part]
};

// Gives every part without a vertex one of the part that has most, as long as there are enough.
void fill_empty_parts(std::span<int> parts, int num_parts);

// Balanced parts without regard to nets: heavy vertices first, each to the part with most room.
std::vector<int> random_parts(const Hypergraph& h, const PartLimits& limits, std::uint64_t seed);

// Consecutive vertices with equal weight, in each constraint of its own; where there are enough of them, no
// part is empty.
std::vector<int> block_parts(const Hypergraph& h, const PartLimits& limits);

}  // namespace polyad::hypergraph
