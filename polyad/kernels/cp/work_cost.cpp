#include "polyad/kernels/cp/work_cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace polyad::kernels {

double lines_of_row(Index num_components, Index value_bytes) {
  return std::ceil(double(num_components * value_bytes) / 64);
}

double line_nanoseconds(double table_bytes) {
  struct Point {
    double log_bytes, nanoseconds;
  };
  constexpr std::array<Point, 6> measured{{{17, 1.0}, {20, 2.0}, {22, 3.5}, {24, 5}, {27, 9}, {30, 12}}};
  const double at = std::log2(std::max(table_bytes, 1.0));
  if (at <= measured.front().log_bytes) return measured.front().nanoseconds;
  for (std::size_t i = 1; i < measured.size(); ++i) {
    const auto& [left, low] = measured[i - 1];
    const auto& [right, high] = measured[i];
    if (at <= right) return low + (high - low) * (at - left) / (right - left);
  }
  return measured.back().nanoseconds;
}

double solve_nanoseconds(Index num_components, Index value_bytes) {
  const auto n = double(num_components);
  return 1.75 * n * n * per_multiply_add * double(value_bytes) / 8 + 10 +
         lines_of_row(num_components, value_bytes) * 6;
}

}  // namespace polyad::kernels
