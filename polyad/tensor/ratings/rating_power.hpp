#pragma once

#include <cmath>

namespace polyad {

// What a rating counts in implicit feedback: the power of its magnitude, with its sign. Ratings are divided
// by the mean of their magnitudes first, so that powers stay within range.
struct RatingPower {
  double power = 1;
  double mean = 1;  // of magnitudes; not 0

  double operator()(double rating) const {
    return power == 1 ? rating : std::copysign(std::pow(std::abs(rating) / mean, power), rating);
  }
};

}  // namespace polyad
