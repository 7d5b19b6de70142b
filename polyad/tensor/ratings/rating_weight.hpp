#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "polyad/tensor/ratings/rating_model.hpp"
#include "polyad/tensor/ratings/rating_power.hpp"

namespace polyad {

// How many times a rating counts where items are compared by who chose them: in proportion to its weight in
// least squares, once in the mean of all ratings, and at most four times.
class RatingWeight {
 public:
  RatingWeight() = default;  // each counts once
  // ratings: all that the model was trained on.
  RatingWeight(const RatingConfidence& confidence, std::span<const double> ratings)
      : alpha_(confidence.alpha) {
    power_.mean = mean_magnitude(ratings);
    power_.power = confidence.power;
    mean_ = mean_magnitude(ratings);
  }

  double operator()(double rating) const {
    constexpr double most = 4;
    return std::min(most, (1 + alpha_ * std::abs(power_(rating)) / mean_) / (1 + alpha_));
  }

 private:
  // Of what power_ makes of them; 1 where all are zero.
  double mean_magnitude(std::span<const double> ratings) const {
    double sum = 0;
    for (const double rating : ratings) sum += std::abs(power_(rating));
    return sum > 0 ? sum / double(ratings.size()) : 1;
  }

  double alpha_ = 0;
  RatingPower power_;
  double mean_ = 1;
};

// In the popularity of items: each rating counts once, but where neighbours count by the weight of ratings,
// so does popularity.
template <class Real>
RatingWeight weight_in_popularity(const RatingModel<Real>& model, std::span<const double> ratings) {
  return model.neighbours > 0 ? RatingWeight(model.confidence, ratings) : RatingWeight();
}

}  // namespace polyad
