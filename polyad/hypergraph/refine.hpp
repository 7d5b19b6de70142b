#pragma once

#include <cstdint>
#include <vector>

#include "polyad/hypergraph/balance.hpp"
#include "polyad/hypergraph/metrics.hpp"
#include "polyad/hypergraph/pin_counts.hpp"

namespace polyad::hypergraph {

// Moves vertices one by one to where they cost less, in rounds: in each the best part of every vertex of a
// batch is found by all threads, then the moves are made one after the other, each checked again. So the
// result depends on the seed only, not on the number of threads.
class Refiner {
 public:
  // Improves `parts` in place; all of these must outlive it.
  Refiner(const Hypergraph& h, std::vector<int>& parts, const PartLimits& limits, const Objective& objective);

  Index num_vertices() const { return h_.num_vertices(); }

  // One look at every vertex; returns how many were moved. Never makes the sum of affinities worse.
  Index pass(const Affinity& affinity, std::uint64_t seed);

  // Moves vertices out of parts that weigh too much, those first that lose least; returns whether all parts
  // are within their limits.
  bool rebalance();

  // What moving the vertex would change of the objective (or, with a smoothed affinity, of its
  // approximation), times the affinity of a full part: positive is better.
  std::int64_t gain(Index vertex, int to) const;

 private:
  struct Proposal {
    Index vertex = 0;
    int part = -1;
    std::int64_t gain = 0;
    bool is_blocked = false;  // a better part has no room
  };
  enum class Wish { gain, leave };
  // What the nets of a vertex weigh to it, and how much they draw it to its own part.
  struct Drawn {
    std::vector<std::int64_t> weights;            // [net of the vertex]
    std::vector<const std::uint8_t*> affinities;  // [net with a row]
    std::vector<std::int64_t> row_weights;        // [net with a row]
    std::int64_t stay = 0;
    int shift = 0;  // weights lose so many bits, so that their sums fit
  };
  // What a thread needs to look at a vertex; the sums are [part], and 0 in between.
  struct Scratch {
    explicit Scratch(Index width)
        : bytes(std::size_t(width)), narrow(std::size_t(width)), wide(std::size_t(width)) {}

    Drawn drawn;
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint16_t> narrow;
    std::vector<std::uint32_t> wide;
  };

  std::int64_t weight_at(Index net, int own) const;
  Proposal propose(Index vertex, Wish wish, Scratch& scratch) const;
  template <class Sum>
  Proposal best_part(Index vertex, Wish wish, Drawn& drawn, Sum* sums) const;
  template <class Sum>
  void add_lists(std::span<const LocalIndex> nets, Drawn& drawn, Sum* sums) const;
  void take_better(Proposal& best, int part, std::int64_t gain) const;
  bool is_as_before(Index vertex) const;
  bool is_wanted(const Proposal& proposal) const;
  bool is_balanced() const;
  void move(Index vertex, int to);

  const Hypergraph& h_;
  std::vector<int>& parts_;
  Objective objective_;
  std::vector<std::int64_t> steps_;  // [lambda]: cost of one part more
  int num_parts_;
  Balance balance_;
  PinCounts counts_;
  // Time goes on from batch to batch. A vertex that wished for nothing is not asked again as long as its
  // nets stay as they are.
  std::uint32_t now_ = 1;
  Array<std::uint32_t> content_since_;  // [vertex]; 0: it is not
  Array<std::uint32_t> changed_;        // [net]: when it last became such that a vertex may wish for more
};

}  // namespace polyad::hypergraph
