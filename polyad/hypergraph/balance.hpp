#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "polyad/hypergraph/hypergraph.hpp"

namespace polyad::hypergraph {

// Maximum weight of each part: [constraint][part].
using PartLimits = std::vector<std::vector<Index>>;

// Limits of (1 + imbalance) times each part's share of the weight or, if vertices are too few to be
// distributed so evenly, of the heaviest part where the heaviest vertex always goes to the lightest part. A
// vertex that is heavier than the limit fills a part alone, and the others share what is left: it does not
// raise their limits. shares: [part], with sum 1; empty: equal.
PartLimits part_limits(const Hypergraph& h, int num_parts, double imbalance,
                       std::span<const double> shares = {});

// A hypergraph in which no vertex weighs more than the largest limit: one that does
// fills its part, whatever it weighs. Refers to the given hypergraph, or is a copy if there is such a vertex.
class LimitedWeights {
 public:
  LimitedWeights(const Hypergraph& h, const PartLimits& limits);
  LimitedWeights(const LimitedWeights&) = delete;
  LimitedWeights& operator=(const LimitedWeights&) = delete;

  const Hypergraph& h() const { return copy_ ? *copy_ : *original_; }

 private:
  const Hypergraph* original_;
  std::optional<Hypergraph> copy_;
};

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

// By how much of its limit the worst part is above it; 0 where all limits are kept.
double overload_of(const Hypergraph& h, std::span<const int> parts, const PartLimits& limits);

// The constraint of which a vertex takes the largest share of a part.
int heaviest_constraint(const Hypergraph& h, Index vertex, const PartLimits& limits);

// Gives every empty part a vertex of the part that has the most, as long as there are enough vertices.
void fill_empty_parts(std::span<int> parts, int num_parts);

// Balanced random parts that ignore nets: heavy vertices first, each to the part with the most capacity left.
std::vector<int> random_parts(const Hypergraph& h, const PartLimits& limits, std::uint64_t seed);

// Contiguous vertices of equal weight, separately in each
// constraint; if there are enough vertices, no part is empty.
std::vector<int> block_parts(const Hypergraph& h, const PartLimits& limits);

}  // namespace polyad::hypergraph
