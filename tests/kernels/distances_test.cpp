#include "polyad/kernels/analysis/distances.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace polyad::kernels {
namespace {

TEST(Distances, are_absolute_and_relative) {
  const std::vector<double> a{3, 4, 1}, b{0, 4, 5}, zero{0, 0, 0};
  EXPECT_DOUBLE_EQ(distance(a, b), 5);
  EXPECT_DOUBLE_EQ(relative_distance(a, b), 5 / std::sqrt(41.0));
  EXPECT_EQ(relative_distance(zero, zero), 0);
  EXPECT_EQ(relative_distance(a, zero), std::numeric_limits<double>::infinity());
}

TEST(MoveTowards, goes_a_step_of_the_way_and_beyond) {
  const std::vector<double> start{3, 4, -1}, to{0, 4, 5};
  for (const double step : {0.0, 0.5, 1.0, 1.5, 16.0}) {
    auto from = start;
    move_towards(from, to, step);
    for (std::size_t k = 0; k < from.size(); ++k)
      EXPECT_DOUBLE_EQ(from[k], (1 - step) * start[k] + step * to[k]) << step;
  }
  std::vector<double> none;
  move_towards(none, none, 2);
  EXPECT_TRUE(none.empty());
}

TEST(MoveTowards, takes_every_entry_of_many) {
  std::vector<double> from(10007), to(10007);
  for (std::size_t k = 0; k < from.size(); ++k) {
    from[k] = double(k);
    to[k] = 3 * double(k) + 8;
  }
  move_towards(from, to, 0.25);
  for (std::size_t k = 0; k < from.size(); ++k) ASSERT_EQ(from[k], 1.5 * double(k) + 2);
}

}  // namespace
}  // namespace polyad::kernels
