#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "polyad/comm/comm.hpp"

namespace polyad {

// Pairs of small numbers, such as of parts that send each other messages: as a bit per possible pair while
// that is small, otherwise as a list of those that occur.
class PairSet {
 public:
  PairSet(Index num_first, Index num_second);

  void add(int first, int second) {
    const Index pair = first * num_second_ + second;
    if (bits_.empty())
      add_to_list(pair);
    else
      bits_[pair / 64] |= std::uint64_t(1) << (pair % 64);
  }
  void add(const PairSet& other);

  // fn(first, second) for each pair that any process has added, on one process and there once. No process
  // needs memory for more pairs than it has added and is called with. Collective.
  template <class Fn>
  void for_each_of_all(const Comm& comm, Fn fn) const {
    const auto call = [&](Index pair) { fn(int(pair / num_second_), int(pair % num_second_)); };
    if (comm.size() == 1) return for_each(call);
    for (const Index pair : bring_together(comm)) call(pair);
  }

 private:
  // fn(pair), ascending.
  template <class Fn>
  void for_each(Fn fn) const {
    for (const Index pair : sorted_list()) fn(pair);
    for (std::size_t i = 0; i < bits_.size(); ++i)
      for (auto rest = bits_[i]; rest != 0; rest &= rest - 1) fn(Index(64 * i) + std::countr_zero(rest));
  }
  void add_to_list(Index pair);
  std::vector<Index> sorted_list() const;
  std::vector<Index> bring_together(const Comm& comm) const;

  Index num_first_, num_second_;
  std::vector<std::uint64_t> bits_;
  std::vector<Index> list_;
  std::size_t next_tidying_ = 1 << 16;  // length of the list at which duplicates are removed
};

}  // namespace polyad
