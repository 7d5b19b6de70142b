#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "polyad/hypergraph/hypergraph.hpp"

namespace polyad {

// How much a net draws a vertex to a part that holds some of its pins already. Exactly: the first pin is
// all. Smoothed (the probabilistic fan-out of Social Hash Partitioner): every pin counts, each by a factor
// less than the one before, so that vertices gather before a part has lost its last pin.
class Affinity {
 public:
  static Affinity exact();
  // Pin n + 1 counts (1 - chance)^n of the first; chance is in (0, 1).
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

// How many pins of each net every part holds. Nets with few pins have a list of their parts, the others a
// row over all parts, so that memory is linear in the pins for any number of parts.
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
  Index lambda(Index net) const { return lambda_[net]; }  // parts that hold pins of it
  void move_pin(Index net, int from, int to);

  const Affinity& affinity() const { return affinity_; }
  void set_affinity(const Affinity& affinity);

  // sums[part] += weight * affinity of the part; there are width() sums, those beyond the parts stay.
  template <class Sum>
  void add_affinities(Index net, Sum weight, Sum* sums) const {
    if (const Index row = row_[net]; row >= 0) {
      const std::uint8_t* drawn = drawn_.data() + row * width_;
      for (Index p = 0; p < width_; ++p) sums[p] = Sum(sums[p] + weight * drawn[p]);
    } else {
      for (const auto& entry : list(net))
        sums[entry.part] = Sum(sums[entry.part] + weight * affinity_(entry.count));
    }
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

  Index width_;
  Affinity affinity_ = Affinity::exact();
  Array<Index> row_;           // [net]: its row; or, for a list, the complement of where that begins
  Array<LocalIndex> lambda_;   // [net]
  Array<LocalIndex> counts_;   // [row][part]
  Array<std::uint8_t> drawn_;  // [row][part]: affinity of the count
  Array<Entry> entries_;       // list after list, each with room for as many parts as the net can have
};

}  // namespace polyad
