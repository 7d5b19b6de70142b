#pragma once

#include <cstdint>

#include "polyad/base/array.hpp"
#include "polyad/base/types.hpp"

namespace polyad {

// An item to sort: a key of up to 64 bits, and its original position.
struct KeyedPosition {
  std::uint64_t key;
  Index position;

  friend bool operator==(const KeyedPosition&, const KeyedPosition&) = default;
};

// Sorts by key, stably, with all threads; only the low key_bits bits may be set.
// Needs as much memory again as the items. Independent of the number of threads.
void radix_sort(Array<KeyedPosition>& items, int key_bits);

}  // namespace polyad
