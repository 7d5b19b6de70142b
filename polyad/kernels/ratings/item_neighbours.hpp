#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/tensor/ratings/rating_weight.hpp"
#include "polyad/tensor/ratings/ratings_by_user.hpp"

namespace polyad::kernels {

// Items that the same users chose. With w_vi the weight of the rating of item i by user v where it is
// positive, else 0, and n_v the number of such items of v, items i and j are similar by
//   s_ij = g_ij / (sqrt(g_ii g_jj) + 1), where g_ij = sum over v of sqrt(w_vi w_vj) / n_v.
// Few users that chose both say little, which is what the 1 is for. Items with fewer than 4 of these
// ratings have no neighbours, others the most similar ones, at most 200. Users with more than 500 have no
// part: they say little about what goes together, and bound the time, a pair of items of a user at a time.
struct ItemNeighbours {
  static constexpr Index max_count = 200, fewest_ratings = 4, most_of_user = 500;
  static constexpr double shrinkage = 1;

  Array<Index> begins;        // [item], and the end
  Array<std::int32_t> items;  // of an item ascending
  Array<float> similarities;  // positive
  RatingWeight weight;

  Index num_items() const { return Index(begins.size()) - 1; }
};

// The same for any number of threads.
ItemNeighbours find_neighbours(const RatingsByUser& rated, Index num_items,
                               const RatingConfidence& confidence = {});

// What is known of a user: items ascend.
struct KnownItems {
  std::span<const Index> items;
  std::span<const double> ratings;
};

struct ItemTerm {
  Index item = 0;
  double term = 0;
};

// Sums similarities to what users chose, one user after another.
class NeighbourTerms {
 public:
  NeighbourTerms(const ItemNeighbours& neighbours, double weight);
  // `weight` times the sum of the similarities to the positively rated items of a user, times the weights of
  // these ratings, of each item that has one; items ascend.
  std::vector<ItemTerm> of(const KnownItems& known);

 private:
  const ItemNeighbours& neighbours_;
  double weight_;
  std::vector<double> sums_;  // [item], zero between calls
  std::vector<Index> touched_;
};

namespace ref {
// The similarity of two items, directly by the definition, without the limit of 200.
double item_similarity(const RatingsByUser& rated, Index one, Index other,
                       const RatingConfidence& confidence);
}  // namespace ref

}  // namespace polyad::kernels
