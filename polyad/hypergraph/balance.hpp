#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "polyad/hypergraph/hypergraph.hpp"

namespace polyad::hypergraph {

// Maximum weight of each part: [constraint][part].
using PartLimits = std::vector<std::vector<Index>>;

// Limits of (1 + imbalance) times each part's share of the total weight, but at least what the heaviest
// vertex, or a whole number of equal vertices, requires. shares: [part], with sum 1; empty: equal.
PartLimits part_limits(const Hypergraph& h, int num_parts, double imbalance,
                       std::span<const double> shares = {});

// Weights of the parts relative to their limits.
class Balance {
 public:
  Balance(const Hypergraph& h, std::span<const int> parts, const PartLimits& limits);

  bool fits(Index vertex, int part) const {
    for (int c = 0; c < num_constraints_; ++c)
      if (remaining_[c][part] < h_->vertex_weight(vertex, c)) return false;
    return true;
  }
  bool is_overloaded(int part) const {
    for (int c = 0; c < num_constraints_; ++c)
      if (remaining_[c][part] < 0) return true;
    return false;
  }
  // Weight that the part can still take in one constraint; negative if it exceeds its limit.
  Index remaining(int part, int constraint = 0) const { return remaining_[constraint][part]; }
  // Whether moving the vertex makes the weights of the two parts more equal.
  bool evens_out(Index vertex, int from, int to) const;
  Index num_vertices(int part) const { return num_vertices_[part]; }
  void move(Index vertex, int from, int to);

 private:
  const Hypergraph* h_;
  int num_constraints_;
  std::vector<std::vector<Index>> remaining_;  // [constraint][part]
  std::vector<Index> num_vertices_;            // [part]
};

// Gives every empty part a vertex of the part that has the most, as long as there are enough vertices.
void fill_empty_parts(std::span<int> parts, int num_parts);

// Balanced random parts that ignore nets: heavy vertices first, each to the part with the most capacity left.
std::vector<int> random_parts(const Hypergraph& h, const PartLimits& limits, std::uint64_t seed);

// Contiguous vertices of equal weight, separately in each
// constraint; if there are enough vertices, no part is empty.
std::vector<int> block_parts(const Hypergraph& h, const PartLimits& limits);

}  // namespace polyad::hypergraph
