#pragma once

#include <span>

#include "polyad/base/array.hpp"
#include "polyad/tensor/rating_model.hpp"

namespace polyad {

// A user that a model has not seen, found from a few ratings.
template <class Real>
struct FoldedUser {
  Array<Real> row;  // of factors
  double bias = 0;  // 0 in a model without biases
};

// The row w and bias b that minimise the loss of the training over this user's ratings, with the items as
// they are: sum over ratings of e^2 + regularisation (|w|^2 + b^2), where e = rating - prediction. That is
// ridge regression with a term of regularisation times the number of ratings. Of several minima, without
// regularisation, the smallest. Items lie in the model, a rating for each.
template <class Real>
FoldedUser<Real> fold_in_user(const RatingModel<Real>& model, std::span<const Index> items,
                              std::span<const double> ratings, double regularisation);

}  // namespace polyad
