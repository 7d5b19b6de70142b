#pragma once

#include <algorithm>
#include <span>

namespace polyad {

// (max - min) / max, 0 where nothing is: the ratios r of seed 001.
inline double imbalance_ratio(std::span<const double> loads) {
  const auto [least, most] = std::ranges::minmax(loads);
  return most > 0 ? (most - least) / most : 0;
}

}  // namespace polyad
