#include "polyad/tensor/ratings/rating_side.hpp"

#include <utility>

namespace polyad {

std::string to_string(RatingSide side) {
  return side == RatingSide::user ? "user" : "item";
}

SparseTensor<double> transposed(SparseTensor<double> ratings, RatingSide first) {
  if (first == RatingSide::user) return ratings;
  std::vector<Index> extents{ratings.extent(1), ratings.extent(0)};
  auto [indices, values] = std::move(ratings).take();
  std::swap(indices[0], indices[1]);
  return {std::move(extents), std::move(indices), std::move(values)};
}

SplitRatings transposed(SplitRatings ratings, RatingSide first) {
  return {transposed(std::move(ratings.train), first), transposed(std::move(ratings.test), first)};
}

template <class Real>
RatingModel<Real> transposed(RatingModel<Real> model, RatingSide first) {
  if (first == RatingSide::user) return model;
  std::swap(model.users, model.items);
  std::swap(model.user_biases, model.item_biases);
  return model;
}

template <class Real>
RatingTraining<Real> transposed(RatingTraining<Real> training, RatingSide first) {
  if (first == RatingSide::item) std::swap(training.user_squares, training.item_squares);
  return training;
}

template RatingModel<float> transposed(RatingModel<float>, RatingSide);
template RatingModel<double> transposed(RatingModel<double>, RatingSide);
template RatingTraining<float> transposed(RatingTraining<float>, RatingSide);
template RatingTraining<double> transposed(RatingTraining<double>, RatingSide);

}  // namespace polyad
