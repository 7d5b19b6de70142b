#pragma once

#include <numeric>
#include <utility>
#include <vector>

#include "polyad/base/random.hpp"
#include "polyad/base/types.hpp"

namespace polyad::hypergraph {

// The numbers 0, 1, ..., count - 1 in random order.
inline std::vector<LocalIndex> shuffled(Index count, const Random& random) {
  std::vector<LocalIndex> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), LocalIndex(0));
  for (Index i = count - 1; i > 0; --i)
    std::swap(order[i], order[Index(random.below(std::uint64_t(i) + 1, std::uint64_t(i)))]);
  return order;
}

}  // namespace polyad::hypergraph
