#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "polyad/comm/comm.hpp"

namespace polyad {

// Which parts lend rows of a mode to which other parts; determines the number of messages.
// Stores a bit per pair of parts while that is small, otherwise a list of the pairs that occur.
class Lending {
 public:
  explicit Lending(Index num_parts);

  void add(int owner, int borrower) {
    const Index pair = owner * num_parts_ + borrower;
    if (bits_.empty())
      add_to_list(pair);
    else
      bits_[pair / 64] |= std::uint64_t(1) << (pair % 64);
  }
  void add(const Lending& other);

  // [part]: number of messages, one to each part that it lends to and, with a fold, to
  // each that it borrows from. Includes the pairs added by all processes. Collective.
  std::vector<Index> messages(const Comm& comm, bool folds) const;

 private:
  void add_to_list(Index pair);
  std::vector<Index> sorted_pairs() const;

  Index num_parts_;
  std::vector<std::uint64_t> bits_;
  std::vector<Index> list_;
  std::size_t next_tidying_ = 1 << 16;  // length of the list at which duplicates are removed
};

}  // namespace polyad
