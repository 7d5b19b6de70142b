#pragma once

#include <string>

#include "polyad/tensor/ratings/rating_model.hpp"
#include "polyad/tensor/ratings/split_ratings.hpp"

namespace polyad {

enum class RatingSide { user, item };
std::string to_string(RatingSide side);

// The mode of ratings that has them.
constexpr int mode_of(RatingSide side) {
  return side == RatingSide::user ? 0 : 1;
}

// So that the side that is named comes first: as it is, or users and items have changed places. Once more,
// and all is as it was.
SparseTensor<double> turned(SparseTensor<double> ratings, RatingSide first);
SplitRatings turned(SplitRatings ratings, RatingSide first);
template <class Real>
RatingModel<Real> turned(RatingModel<Real> model, RatingSide first);
template <class Real>
RatingTraining<Real> turned(RatingTraining<Real> training, RatingSide first);

}  // namespace polyad
