#pragma once

#include <span>

#include "polyad/base/array.hpp"
#include "polyad/tensor/ratings/rating_model.hpp"

namespace polyad::kernels {

// A user that a model has not seen, found from a few ratings.
template <class Real>
struct FoldedUser {
  Array<Real> row;  // of factors
  double bias = 0;  // 0 in a model without biases
};

// A user's ratings, and what the training makes of them.
struct RatingsToFold {
  std::span<const Index> items;     // in the model
  std::span<const double> ratings;  // as many
  Shrinkage shrinkage;
  double scale = 1;  // what training divides ratings by: then biases are too, and rows by its root
};

// The row w and bias b that minimise the loss of the training over this user's ratings, with the items as
// they are: sum over ratings of e^2 + s |w|^2 + t b^2, where e = rating - prediction and s and t are the
// shrinkage for that many ratings, all in the units of the training: a ridge regression. Of several minima,
// without shrinkage, the smallest.
template <class Real>
FoldedUser<Real> fold_in_user(const RatingModel<Real>& model, const RatingsToFold& known);

// The scale of a training on these ratings: their deviation from the model's mean; 1 where all equal it.
double rating_scale(std::span<const double> ratings, double mean);

}  // namespace polyad::kernels
