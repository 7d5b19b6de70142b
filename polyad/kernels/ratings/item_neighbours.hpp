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
  std::span<const std::int32_t> of(Index item) const { return part(items, item); }
  std::span<const float> similarities_of(Index item) const { return part(similarities, item); }

 private:
  template <class T>
  std::span<const T> part(const Array<T>& all, Index item) const {
    return std::span(all).subspan(std::size_t(begins[item]), std::size_t(begins[item + 1] - begins[item]));
  }
};

// The same for any number of threads.
ItemNeighbours find_neighbours(const RatingsByUser& rated, Index num_items,
                               const RatingConfidence& confidence = {});

// What is known of a user: items ascend.
struct KnownItems {
  std::span<const Index> items;
  std::span<const double> ratings;
};

// What neighbours say of a candidate.
struct CandidateTerm {
  Index place = 0;  // among the candidates
  double sum = 0;
};

// Sums similarities to what users chose, one user after another.
class NeighbourSums {
 public:
  // Candidates ascend. Both are kept by reference.
  NeighbourSums(const ItemNeighbours& neighbours, std::span<const Index> candidates);
  // Of each candidate that is similar to positively rated items of a user: the sum of the similarities, times
  // the weights of these ratings. Places ascend.
  std::vector<CandidateTerm> of(const KnownItems& known);

 private:
  std::vector<CandidateTerm> take_all();
  std::vector<CandidateTerm> take_touched();

  const ItemNeighbours& neighbours_;
  std::span<const Index> candidates_;
  std::vector<double> sums_;  // [item], zero between calls
  std::vector<Index> touched_;
  std::vector<CandidateTerm> terms_;  // room for all candidates, between calls without meaning
};

namespace ref {
// The similarity of two items, directly by the definition, without the limit of 200.
double item_similarity(const RatingsByUser& rated, Index one, Index other,
                       const RatingConfidence& confidence);
}  // namespace ref

}  // namespace polyad::kernels
