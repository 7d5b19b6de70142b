#pragma once

#include <span>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad::kernels {

// Sums of magnitudes and squares of numbers, scaled by the largest,
// so that squares do not overflow. Results of parts can be merged.
struct Magnitudes {
  Index count = 0;
  double largest = 0;
  double sum = 0, squares = 0;  // of |x| / largest

  double mean() const { return count == 0 ? 0 : largest * (sum / double(count)); }
  double root_mean_square() const;
  double norm() const;
};
// Computes the sums; the numbers must be finite.
Magnitudes measure(std::span<const double> numbers);
Magnitudes merge(const Magnitudes& a, const Magnitudes& b);

// residuals[z] = values[z] - predictions[z]
void subtract(std::span<const double> values, std::span<const double> predictions,
              std::span<double> residuals);

// Position of the first number that is NaN or infinite; -1 if there is none.
Index first_not_finite(std::span<const double> numbers);

// Positions of the `count` numbers of largest magnitude, in descending order; of equal ones the first.
std::vector<Index> largest_places(std::span<const double> numbers, Index count);

}  // namespace polyad::kernels
