#pragma once

#include <span>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/matrix.hpp"
#include "polyad/tensor/ratings/rating_model.hpp"
#include "polyad/tensor/ratings/ratings_by_user.hpp"
#include "polyad/tensor/ratings/scored_item.hpp"

namespace polyad::kernels {

// Some users whose best items are wanted; they need not be users of the model.
template <class Real>
struct UserRows {
  Matrix<Real> rows;                             // a row of factors per user
  Array<double> offsets;                         // what every prediction of a user has: mean and bias
  std::vector<std::span<const Index>> excluded;  // [user]: items to leave out, ascending; empty: none at all
};

// Those of a model; without the items that `rated` says, unless it is null.
template <class Real>
UserRows<Real> gather_users(const RatingModel<Real>& model, std::span<const Index> users,
                            const RatingsByUser* rated);

// For every user the `count` candidates of highest predicted rating, or fewer where there are not so many.
// Candidates ascend. A prediction depends on the rows of the user and the item alone, not on threads nor on
// which others are asked for. Memory beyond the result: a block of items per thread. Throws Error{bad_input}
// when a prediction is beyond what Real holds.
template <class Real>
std::vector<ScoredItems> top_items(const RatingModel<Real>& model, const UserRows<Real>& users,
                                   std::span<const Index> candidates, Index count);

// The candidates most like an item by the cosine of the angle between their rows, the item itself and rows
// of zeros aside. None when the item's own row is zero.
template <class Real>
ScoredItems similar_items(const Matrix<Real>& items, Index item, std::span<const Index> candidates,
                          Index count);

namespace ref {
// The predicted rating, as the definition says it.
template <class Real>
double predicted_rating(const RatingModel<Real>& model, Index user, Index item);
}  // namespace ref

}  // namespace polyad::kernels
