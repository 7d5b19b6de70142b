#pragma once

#include <cstdint>
#include <span>

#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// Which ratings are held out for testing.
struct RatingSplit {
  enum class Kind { none, fraction, leave_one_out } kind = Kind::none;
  double fraction = 0;
  std::uint64_t seed = 1;
};

struct SplitRatings {
  SparseTensor<double> train, test;
};

// Decides for each rating by the seed, its user and its item only, independent of the
// order of the ratings and the number of processes. Leave-one-out holds out one rating
// of every user with two or more; all ratings of a user must then be on one process.
SplitRatings split_ratings(SparseTensor<double> ratings, const RatingSplit& split);

// Ratings divided into parts of about equal size.
struct RatingFolds {
  int count = 2;
  std::uint64_t seed = 1;
};
// The part of a rating, from 0; decided as in split_ratings.
int fold_of(const RatingFolds& folds, Index user, Index item);

// Sorts by user, then by item; of ratings of the same pair only
// the last is kept. Returns the number of ratings dropped.
Index keep_last_ratings(SparseTensor<double>& ratings);

// The number of test ratings of a user and an item that also have a training rating; the second also removes
// them. Training ratings are sorted by user, then by item, and all of a user are on one process.
Index count_learned_tests(const SplitRatings& ratings);
Index leave_out_learned_tests(SplitRatings& ratings);

}  // namespace polyad
