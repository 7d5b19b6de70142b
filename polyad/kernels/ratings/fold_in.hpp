#pragma once

#include <span>

#include "polyad/base/array.hpp"
#include "polyad/tensor/ratings/rating_model.hpp"

namespace polyad::kernels {

// Factors of a user who is not in the model, computed from a few ratings.
template <class Real>
struct FoldedUser {
  Array<Real> row;  // factors
  double bias = 0;  // 0 in a model without biases
};

// The ratings of a user, and the parameters of the training.
struct RatingsToFold {
  std::span<const Index> items;     // items of the model
  std::span<const double> ratings;  // one per item
  Shrinkage shrinkage;
  double scale = 1;  // by which training divides ratings and biases; rows by its root
  // Of a model of implicit feedback: its alpha over the mean magnitude of the training ratings, and the Gram
  // matrix of the items.
  double alpha = 0;
  const Matrix<double>* gram = nullptr;  // null: the model is of ratings
};

// The row w and bias b that minimise the training loss over the ratings of one user, with
// items fixed: the sum over ratings of e^2 + s |w|^2 + t b^2, where e = rating -
// prediction and s and t are the regularisation for that many ratings, in the units of
// the training: a ridge regression. In a model of implicit feedback, the row that minimises the loss of the
// training over all items. Without regularisation, the minimum of smallest norm.
template <class Real>
FoldedUser<Real> fold_in_user(const RatingModel<Real>& model, const RatingsToFold& known);

// Scale of a training on these ratings: their deviation from the mean of the model; 1 if it is zero.
double rating_scale(std::span<const double> ratings, double mean);

}  // namespace polyad::kernels
