#pragma once

#include <vector>

#include "polyad/base/types.hpp"

namespace polyad {

// An item, and its predicted rating or its likeness to another.
struct ScoredItem {
  Index item = 0;
  double score = 0;

  friend bool operator==(const ScoredItem&, const ScoredItem&) = default;
};
using ScoredItems = std::vector<ScoredItem>;  // by descending score; among equals by ascending item

}  // namespace polyad
