#pragma once

#include <cstdint>

#include "polyad/base/array.hpp"
#include "polyad/base/types.hpp"

namespace polyad {

// What is sorted: a key of up to 64 bits, and where the item came from.
struct KeyedPosition {
  std::uint64_t key;
  Index position;

  friend bool operator==(const KeyedPosition&, const KeyedPosition&) = default;
};

// Sorts by key, stably, with all threads; only the low key_bits bits may be set. Needs as much memory
// again as the items. The result does not depend on the number of threads.
void radix_sort(Array<KeyedPosition>& items, int key_bits);

}  // namespace polyad
