#pragma once

#include <algorithm>
#include <span>

namespace polyad {

// Imbalance (max - min) / max of loads; 0 if all are 0 (Miao et al. 2023, section 3.1.2).
inline double imbalance_ratio(std::span<const double> loads) {
  const auto [minimum, maximum] = std::ranges::minmax(loads);
  return maximum > 0 ? (maximum - minimum) / maximum : 0;
}

}  // namespace polyad
