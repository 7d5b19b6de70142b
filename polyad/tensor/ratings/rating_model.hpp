#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "polyad/base/array.hpp"
#include "polyad/base/matrix.hpp"
#include "polyad/tensor/value_rules.hpp"

namespace polyad {

// What a rating x counts where a model learns which items users choose: 1 + alpha |x|^power / (the mean of
// |x|^power).
struct RatingConfidence {
  double alpha = 0, power = 1;
  friend bool operator==(const RatingConfidence&, const RatingConfidence&) = default;
};

// What a recommender has learned: the rating of an item by a user is
//   mean + user_biases[user] + item_biases[item] + <users[user], items[item]>.
// A user or an item that was never seen has a row of zeros. Without biases (of the plain model) these
// arrays are empty and the mean is 0.
template <class Real>
struct RatingModel {
  double mean = 0;
  Matrix<Real> users, items;  // a row per user or item, a column per factor
  Array<Real> user_biases, item_biases;
  // In lists, the weight of the similarity of an item to those that the user chose (kernels::ItemNeighbours),
  // which is added to that; predictions are without it.
  double neighbours = 0;
  RatingConfidence confidence = {};  // of ratings, in these similarities

  Index num_users() const { return users.num_rows(); }
  Index num_items() const { return items.num_rows(); }
  Index num_factors() const { return users.num_cols(); }
  bool has_biases() const { return !user_biases.empty() || !item_biases.empty(); }
  friend bool operator==(const RatingModel&, const RatingModel&) = default;
};

// Regularisation of rows, for ratings of deviation 1. Few ratings determine a row
// poorly: one part of the regularisation therefore does not grow with their number.
struct Shrinkage {
  double per_rating = 0.05;  // L2 regularisation of factors per rating
  double per_row = 2;        // acts like this number of additional ratings equal to the mean
  double of_items = 1;       // per_rating of items is this times that of users

  // Regularisation per rating of the factors, and of the bias, of a row with this number of ratings.
  double of_factors(Index num_ratings) const { return per_rating + of_bias(num_ratings); }
  double of_bias(Index num_ratings) const { return per_row / double(num_ratings); }
  Shrinkage for_items() const { return {per_rating * of_items, per_row}; }
  friend bool operator==(const Shrinkage&, const Shrinkage&) = default;
};

// The smallest and the largest rating that was learned from; by default there are no bounds.
struct RatingRange {
  double least = -std::numeric_limits<double>::infinity();
  double largest = std::numeric_limits<double>::infinity();

  double clip(double rating) const { return std::clamp(rating, least, largest); }
  friend bool operator==(const RatingRange&, const RatingRange&) = default;
};

// A model that was trained for lists, beside one of ratings: of implicit feedback. Its predictions say which
// items a user prefers.
template <class Real>
struct ListModel {
  RatingModel<Real> model;  // the biases of items are their popularity; there are none of users
  Shrinkage shrinkage;
  double alpha = 0;  // as in RatingTraining
  double power = 1;  // of ratings: their magnitudes to this power are what says how much they count

  friend bool operator==(const ListModel&, const ListModel&) = default;
};

// State of training in addition to the model, to resume it and to fit new users.
template <class Real>
struct RatingTraining {
  std::int64_t epochs = 0;  // number of epochs trained
  double step = 0;          // last step size
  Shrinkage shrinkage;
  // Sums of squared gradients per row, the state of AdaGrad; empty if not used.
  Array<Real> user_squares, item_squares;
  std::optional<RatingRange> range = {};  // of the ratings; nothing where predictions are no ratings
  // Of implicit feedback, with values divided by the mean of their magnitudes; nothing: predictions are
  // ratings.
  std::optional<double> alpha = {};
  ValuePreparation prepared = usual_preparation();
  std::optional<ListModel<Real>> lists = {};  // by which items are ranked; nothing: by the model of ratings

  // The last of several ratings of an item by a user counts.
  static ValuePreparation usual_preparation() { return {Duplicates::last, Transform::none, {}}; }
  friend bool operator==(const RatingTraining&, const RatingTraining&) = default;
};

}  // namespace polyad
