#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "polyad/hypergraph/hypergraph.hpp"

namespace polyad::hypergraph {

// Attraction of a vertex to a part with pins of a common net. Exact: the first pin counts fully, others
// nothing. Smoothed (probabilistic fan-out of Social Hash Partitioner): each pin counts a constant
// factor less than the one before, so that vertices gather before a part has lost its last pin.
class Affinity {
 public:
  static Affinity exact();
  // Pin n + 1 counts (1 - chance)^n times the first; chance is in (0, 1).
  static Affinity smoothed(double chance);

  std::uint8_t operator()(Index num_pins) const {
    return table_[std::size_t(std::min<Index>(num_pins, num_steps - 1))];
  }
  std::uint8_t full() const { return table_.back(); }
  friend bool operator==(const Affinity&, const Affinity&) = default;

 private:
  static constexpr Index num_steps = 128;
  std::array<std::uint8_t, num_steps> table_{};
};

// Number of pins of each net in every part. Nets with few pins have a list of their parts, the
// others a row over all parts, so that memory is linear in the pins for any number of parts.
class PinCounts {
 public:
  PinCounts(const Hypergraph& h, std::span<const int> parts, int num_parts);

  Index of(Index net, int part) const {
    if (const Index row = row_[net]; row >= 0) return counts_[row * width_ + part];
    // Through the whole list: vectors are faster than leaving early.
    std::uint16_t found = 0;
    for (const auto& entry : list(net)) found |= entry.part == part ? entry.count : std::uint16_t(0);
    return found;
  }
  Index lambda(Index net) const { return lambda_[net]; }  // number of parts with pins of the net
  // Returns whether the move may have made another part better for some vertex.
  bool move_pin(Index net, int from, int to);

  const Affinity& affinity() const { return affinity_; }
  void set_affinity(const Affinity& affinity);

  // The affinity to a part after it has lost one of its pins.
  std::uint8_t affinity_without_one(Index net, int part) const {
    if (const Index row = row_[net]; row >= 0) return affinities_[row * 2 * width_ + width_ + part];
    return affinity_(of(net, part) - 1);
  }

  // Prefetches the memory that is read first for this part and for all parts.
  void prefetch(Index net, int part) const {
    if (const Index row = row_[net]; row >= 0) {
      __builtin_prefetch(affinities_.data() + row * 2 * width_ + width_ + part);
      __builtin_prefetch(affinities_.data() + row * 2 * width_);
    } else {
      __builtin_prefetch(entries_.data() + ~row);
    }
  }

  // For a net with a row: its affinity to each of width() parts, 0 beyond the last part; otherwise null.
  const std::uint8_t* affinities(Index net) const {
    const Index row = row_[net];
    return row >= 0 ? affinities_.data() + row * 2 * width_ : nullptr;
  }
  // For a net with a list: calls fn(part, affinity) for the parts that contain its pins.
  template <class Fn>
  void for_each_listed(Index net, Fn fn) const {
    for (const auto& entry : list(net)) fn(int(entry.part), affinity_(entry.count));
  }
  Index width() const { return width_; }

 private:
  struct Entry {
    std::uint16_t part, count;
  };
  std::span<const Entry> list(Index net) const { return {entries_.data() + ~row_[net], lambda_[net]}; }
  std::span<Entry> list(Index net) { return {entries_.data() + ~row_[net], lambda_[net]}; }
  void add_pin(Index net, int part);
  void remove_pin(Index net, int part);
  void set_affinities(Index row, int part);

  Index width_;
  Affinity affinity_ = Affinity::exact();
  Array<Index> row_;                // [net]: its row; for a list, the complement of its first entry
  Array<LocalIndex> lambda_;        // [net]
  Array<LocalIndex> counts_;        // [row][part]
  Array<std::uint8_t> affinities_;  // [row][0, 1][part]: of the count, and of the count minus one
  Array<Entry> entries_;            // consecutive lists, each with space for all parts that the net can touch
};

}  // namespace polyad::hypergraph
