#include "polyad/tensor/ratings/rating_side.hpp"

#include <utility>

namespace polyad {

std::string to_string(RatingSide side) {
  return side == RatingSide::user ? "user" : "item";
}

SparseTensor<double> turned(SparseTensor<double> ratings, RatingSide first) {
  if (first == RatingSide::user) return ratings;
  std::vector<Index> extents{ratings.extent(1), ratings.extent(0)};
  auto [indices, values] = std::move(ratings).take();
  std::swap(indices[0], indices[1]);
  return {std::move(extents), std::move(indices), std::move(values)};
}

SplitRatings turned(SplitRatings ratings, RatingSide first) {
  return {turned(std::move(ratings.train), first), turned(std::move(ratings.test), first)};
}

template <class Real>
RatingModel<Real> turned(RatingModel<Real> model, RatingSide first) {
  if (first == RatingSide::user) return model;
  std::swap(model.users, model.items);
  std::swap(model.user_biases, model.item_biases);
  return model;
}

template <class Real>
RatingTraining<Real> turned(RatingTraining<Real> training, RatingSide first) {
  if (first == RatingSide::item) std::swap(training.user_squares, training.item_squares);
  return training;
}

template RatingModel<float> turned(RatingModel<float>, RatingSide);
template RatingModel<double> turned(RatingModel<double>, RatingSide);
template RatingTraining<float> turned(RatingTraining<float>, RatingSide);
template RatingTraining<double> turned(RatingTraining<double>, RatingSide);

}  // namespace polyad
