#include "polyad/algo/cp/line_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace polyad {
namespace {

struct Curve {
  const char* name;
  std::function<LineSearchPoint(double)> at;
};

std::vector<Curve> curves() {
  return {{"parabola",
           [](double s) {
             return LineSearchPoint{s, s * s - 2 * s, 2 * s - 2};
           }},
          {"far minimum",
           [](double s) {
             return LineSearchPoint{s, 1e-4 * s * s - s, 2e-4 * s - 1};
           }},
          {"near minimum",
           [](double s) {
             return LineSearchPoint{s, 1e8 * s * s - s, 2e8 * s - 1};
           }},
          {"quartic",
           [](double s) {
             return LineSearchPoint{s, std::pow(s - 1, 4), 4 * std::pow(s - 1, 3)};
           }},
          {"waves",
           [](double s) {
             return LineSearchPoint{s, 0.05 * s * s - std::sin(s), 0.1 * s - std::cos(s)};
           }},
          {"sixth power",
           [](double s) {
             return LineSearchPoint{s, std::pow(s, 6) - s, 6 * std::pow(s, 5) - 1};
           }},
          {"hump behind the minimum",
           [](double s) {
             return LineSearchPoint{s, -s * std::exp(-s), (s - 1) * std::exp(-s)};
           }},
          {"ends", [](double s) {
             return s < 2 ? LineSearchPoint{s, -std::sqrt(s + 1) + 1 / (2 - s),
                                            -0.5 / std::sqrt(s + 1) + 1 / ((2 - s) * (2 - s))}
                          : LineSearchPoint{s, std::numeric_limits<double>::quiet_NaN(), 0};
           }}};
}

TEST(LineSearch, finds_a_step_that_meets_the_wolfe_conditions) {
  for (const auto& curve : curves())
    for (const double first_step : {1e-6, 1e-2, 1.0, 30.0, 1e4}) {
      const auto start = curve.at(0);
      double last = -1;
      int evaluations = 0;

      const auto found =
          line_search({start.value, start.slope, first_step, 0, start.value}, [&](double step) {
            ++evaluations;
            last = step;
            return curve.at(step);
          });

      ASSERT_TRUE(found) << curve.name << first_step;
      EXPECT_EQ(found->step, last);
      EXPECT_LE(found->value, start.value + 0.1 * found->step * start.slope) << curve.name << first_step;
      EXPECT_LE(std::abs(found->slope), -0.9 * start.slope) << curve.name << first_step;
      EXPECT_LE(evaluations, 25);
    }
}

TEST(LineSearch, lets_the_slope_decide_where_values_are_rounding) {
  const auto noisy = [](double s) {
    return LineSearchPoint{s, s == 0 ? 1 : 1 + 1e-16 * std::sin(1e3 * s), 1e-15 * (s - 1)};
  };
  for (const double first_step : {0.01, 0.3, 1.0, 5.0}) {
    const auto found = line_search({1, -1e-15, first_step, 1e-15, 1 + 1e-15}, noisy);

    ASSERT_TRUE(found);
    EXPECT_LE(std::abs(found->slope), 0.9e-15);
  }
}

TEST(LineSearch, finds_nothing_where_the_slope_was_wrong) {
  int evaluations = 0;
  const auto found = line_search({0, -1, 1, 0, 0}, [&](double s) {
    ++evaluations;
    return LineSearchPoint{s, s, 1};
  });

  EXPECT_FALSE(found);
  EXPECT_LE(evaluations, 30);
}

TEST(LineSearch, takes_what_it_has_where_the_function_falls_for_ever) {
  const auto found = line_search({0, -1, 1, 0, 0}, [&](double s) { return LineSearchPoint{s, -s, -1}; });

  ASSERT_TRUE(found);
  EXPECT_LT(found->value, -1);
}

}  // namespace
}  // namespace polyad
