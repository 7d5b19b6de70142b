#pragma once

#include <span>
#include <vector>

#include "polyad/tensor/ratings/rating_rows.hpp"

namespace polyad::kernels {

// So many ratings in a row are of different users, and nearly always of different items: then a processor can
// work on all of them at a time, where otherwise each would wait for the sums of the last.
inline constexpr int interleaved_ratings = 4;

// Ratings in the order in which they are learned from. Users and items are cut into as many bands each, a
// power of two, and so the ratings into squares: first the two squares on the diagonal are learned from, then
// the two beside it, and each of them is cut in the same way, down to a block of one band each. Two squares
// of a step share no user and no item: so threads can take them in any order and the result is the same. And
// a thread stays in squares that its cache holds. A block is some streams of ratings, each sorted by user and
// then by item, that take turns.
template <class Real>
struct RatingBlocks {
  Index num_bands = 1;
  Array<LocalRating<Real>> ratings;   // block after block
  std::vector<Index> begin = {0, 0};  // [place of the block]; one more at the end

  std::span<const LocalRating<Real>> block(Index place) const {
    return {ratings.data() + begin[place], std::size_t(begin[place + 1] - begin[place])};
  }
};

// The place in the order of the block, or square, of such a band of users, in such a step: that in which its
// band of items is the user's band with the bits of `step` flipped.
Index block_place(Index step, Index user_band);

// How many bands ratings are cut into: enough for many threads and small enough tables, but no more. A
// function of the ratings only, so that results do not depend on threads.
Index num_rating_bands(Index num_ratings);

// Bands are consecutive users (items) with about as many ratings each. Numbers should be shuffled, so that
// blocks are alike.
template <class Real>
RatingBlocks<Real> arrange_ratings(Array<LocalRating<Real>> ratings, Index num_users, Index num_items);

}  // namespace polyad::kernels
