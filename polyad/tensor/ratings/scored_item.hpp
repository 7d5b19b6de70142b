#pragma once

#include <vector>

#include "polyad/base/types.hpp"

namespace polyad {

// An item with its predicted rating or its similarity to another.
struct ScoredItem {
  Index item = 0;
  double score = 0;

  friend bool operator==(const ScoredItem&, const ScoredItem&) = default;
};
using ScoredItems = std::vector<ScoredItem>;  // by descending score; equal ones by ascending item

}  // namespace polyad
