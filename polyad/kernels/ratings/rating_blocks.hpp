#pragma once

#include <span>
#include <vector>

#include "polyad/tensor/ratings/rating_rows.hpp"

namespace polyad::kernels {

// Number of consecutive ratings with different users and nearly always different items, which
// a processor can work on at once; otherwise each would wait for the sums of the one before.
inline constexpr int interleaved_ratings = 4;

// Ratings in the order of training. Users and items are divided into equally many bands, a
// power of two, and ratings thereby into squares: first the two squares on the diagonal are
// processed, then the other two, each divided recursively in the same way, down to blocks of
// one band each. The squares of a step share no user and no item, so that threads can process
// them in any order with the same result, and a thread stays in squares that fit in its cache.
// A block consists of interleaved streams of ratings, each sorted by user and then by item.
template <class Real>
struct RatingBlocks {
  Index num_bands = 1;
  Array<LocalRating<Real>> ratings;   // block by block
  std::vector<Index> begin = {0, 0};  // [position of the block]; one more at the end

  std::span<const LocalRating<Real>> block(Index place) const {
    return {ratings.data() + begin[place], std::size_t(begin[place + 1] - begin[place])};
  }
};

// Position of the block, or square, of a band of users in a step: its
// band of items is the band of users with the bits of `step` flipped.
Index block_place(Index step, Index user_band);

// Number of bands: enough for many threads and for small tables, but no more.
// Depends on the number of ratings only, so that results do not depend on threads.
Index num_rating_bands(Index num_ratings);

// Bands are consecutive users (items) with about equal numbers of ratings.
// Users and items should be in random order, so that blocks have similar sizes.
template <class Real>
RatingBlocks<Real> arrange_ratings(Array<LocalRating<Real>> ratings, Index num_users, Index num_items);

}  // namespace polyad::kernels
