#pragma once

#include <cstdint>
#include <span>

#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// Which ratings a model is not to see, so that it can be tested on them.
struct RatingSplit {
  enum class Kind { none, fraction, leave_one_out } kind = Kind::none;
  double fraction = 0;
  std::uint64_t seed = 1;
};

struct SplitRatings {
  SparseTensor<double> train, test;
};

// Decides for each rating by the seed, its user and its item only: the same whatever the order of the
// ratings, and on however many processes they are. Leave-one-out holds out one of every user that has two or
// more; then all ratings of a user must be here.
SplitRatings split_ratings(SparseTensor<double> ratings, const RatingSplit& split);

// Sorts by user, then by item; of ratings of the same pair only the last is kept, for people change their
// minds. Returns how many were dropped.
Index keep_last_ratings(SparseTensor<double>& ratings);

}  // namespace polyad
