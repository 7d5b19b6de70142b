#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "polyad/hypergraph/balance.hpp"
#include "polyad/hypergraph/metrics.hpp"
#include "polyad/hypergraph/pin_counts.hpp"

namespace polyad::hypergraph {

// Refines a partition by moving single vertices, in batches: the best part of every
// vertex of a batch is computed by all threads, then moves are applied one by one, each
// checked again. The result depends on the seed only, not on the number of threads.
class Refiner {
 public:
  // Improves `parts` in place; all arguments must outlive this object.
  Refiner(const Hypergraph& h, std::vector<int>& parts, const PartLimits& limits, const Objective& objective);

  Index num_vertices() const { return h_.num_vertices(); }

  // Considers every vertex once; returns the number of moves. Never reduces the sum of affinities.
  Index pass(const Affinity& affinity, std::uint64_t seed);

  // Moves vertices out of parts that exceed their limits, those with the
  // smallest loss first; returns whether all parts are within their limits.
  bool rebalance();

  // Exchanges vertices of parts that exceed their limits for lighter ones of other parts, where no single
  // vertex can leave any more; returns whether all parts are within their limits.
  bool exchange();

  // Moves one vertex after the other, always the one that gains most or loses least, each at most once, and
  // takes back all moves after the best state on the way (Fiduccia and Mattheyses 1982). Ends after
  // `max_fruitless` moves since that state, or when it has read the pins a number of times. Returns by how
  // much the objective, in units, is smaller.
  std::int64_t climb(Index max_fruitless);

  // Change of the objective (with a smoothed affinity, of its approximation) if
  // the vertex moves, times the affinity of a full part: positive is better.
  std::int64_t gain(Index vertex, int to) const;

 private:
  struct Proposal {
    Index vertex = 0;
    int part = -1;
    std::int64_t gain = 0;
    bool is_blocked = false;  // a better part has no capacity left
  };
  enum class Wish { gain, leave };
  // Weights of the nets of a vertex, and their attraction to its own part.
  struct Drawn {
    std::vector<std::int64_t> weights;            // [net of the vertex]
    std::vector<const std::uint8_t*> affinities;  // [net with a row]
    std::vector<std::int64_t> row_weights;        // [net with a row]
    std::int64_t stay = 0;
    int shift = 0;  // number of bits by which weights are shifted right, so that sums do not overflow
  };
  // Buffers of a thread; sums are [part], and 0 between uses.
  struct Scratch {
    explicit Scratch(Index width)
        : bytes(std::size_t(width)), narrow(std::size_t(width)), wide(std::size_t(width)) {}

    Drawn drawn;
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint16_t> narrow;
    std::vector<std::uint32_t> wide;
    Index num_nets_read = 0;  // by proposals
  };

  std::int64_t weight_at(Index net, int own) const;
  Proposal propose(Index vertex, Wish wish, Scratch& scratch) const;
  template <class Sum>
  Proposal best_part(Index vertex, Wish wish, Drawn& drawn, Sum* sums) const;
  template <class Sum>
  void add_lists(std::span<const LocalIndex> nets, Drawn& drawn, Sum* sums) const;
  void take_better(Proposal& best, int part, std::int64_t gain) const;
  bool is_as_before(Index vertex) const;
  class MoveQueue;
  void queue_followers(Index vertex, int from, int to, MoveQueue& queue, Scratch& scratch) const;
  bool is_wanted(const Proposal& proposal) const;
  bool is_balanced() const;
  bool exchange_one(int part, std::span<const int> partners, std::span<const std::vector<Index>> members);
  Index excess_after(Index vertex, Index other) const;
  void move(Index vertex, int to);

  const Hypergraph& h_;
  std::vector<int>& parts_;
  Objective objective_;
  std::vector<std::int64_t> steps_;  // [lambda]: cost of one more part
  int num_parts_;
  Balance balance_;
  PinCounts counts_;
  // A counter of batches. A vertex without a better part is
  // not considered again until one of its nets has changed.
  std::uint32_t now_ = 1;
  Array<std::uint32_t> content_since_;  // [vertex]; 0: it has a better part, or is not known
  Array<std::uint32_t> changed_;        // [net]: last change that may have made another part better
};

}  // namespace polyad::hypergraph
