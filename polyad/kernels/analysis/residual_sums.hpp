#pragma once

#include <span>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad::kernels {

// Sums over the magnitudes of many numbers, divided by the largest, so that no square leaves the range of
// double. Sums of parts merge into those of the whole.
struct Magnitudes {
  Index count = 0;
  double largest = 0;
  double sum = 0, squares = 0;  // of |x| / largest

  double mean() const { return count == 0 ? 0 : largest * (sum / double(count)); }
  double root_mean_square() const;
  double norm() const;
};
// Of finite numbers.
Magnitudes measure(std::span<const double> numbers);
Magnitudes merge(const Magnitudes& a, const Magnitudes& b);

// residuals[z] = values[z] - predictions[z]
void subtract(std::span<const double> values, std::span<const double> predictions,
              std::span<double> residuals);

// The place of the first number that is nan or infinite; -1 when there is none.
Index first_not_finite(std::span<const double> numbers);

// The places of the `count` numbers of largest magnitude, largest first; among equals the first.
std::vector<Index> largest_places(std::span<const double> numbers, Index count);

}  // namespace polyad::kernels
