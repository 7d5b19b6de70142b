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

// A user or an item that is similar to another.
struct SimilarRow {
  Index row = 0;
  double similarity = 0;  // the cosine, shrunk where there are few ratings
  double cosine = 0;      // of the angle between the factors of the two
  Index num_ratings = 0;  // of the row, in the training

  friend bool operator==(const SimilarRow&, const SimilarRow&) = default;
};
using SimilarRows = std::vector<SimilarRow>;  // by descending similarity; equal ones by ascending row

}  // namespace polyad
