#pragma once

#include <string>

#include "polyad/tensor/ratings/rating_model.hpp"
#include "polyad/tensor/ratings/split_ratings.hpp"

namespace polyad {

enum class RatingSide { user, item };
std::string to_string(RatingSide side);

// The mode of ratings for this side.
constexpr int mode_of(RatingSide side) {
  return side == RatingSide::user ? 0 : 1;
}

// Transposes, if necessary, so that the given side comes first: unchanged for users,
// with users and items exchanged for items. Applying it twice restores the original.
SparseTensor<double> transposed(SparseTensor<double> ratings, RatingSide first);
SplitRatings transposed(SplitRatings ratings, RatingSide first);
template <class Real>
RatingModel<Real> transposed(RatingModel<Real> model, RatingSide first);
template <class Real>
RatingTraining<Real> transposed(RatingTraining<Real> training, RatingSide first);

}  // namespace polyad
