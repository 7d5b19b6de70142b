#include "polyad/tensor/generate/generate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "polyad/kernels/analysis/kruskal_values.hpp"
#include "polyad/tensor/sort.hpp"
#include "tests/support/generated.hpp"

namespace polyad {
namespace {

using test::coordinates;
using test::expect_sorted_distinct_in_range;
using test::refusal_by;
using test::with_threads;

std::string refusal(const PlantedOptions& options) {
  return refusal_by([&] { generate_planted(options); });
}

std::string refusal(const RatingsOptions& options) {
  return refusal_by([&] { generate_ratings(options); });
}

// Sets `at` to the coordinates that follow; false after the last ones.
bool advance(std::vector<Index>& at, const std::vector<Index>& dims) {
  for (int m = int(dims.size()) - 1; m >= 0; --m) {
    if (++at[m] < dims[m]) return true;
    at[m] = 0;
  }
  return false;
}

TEST(GeneratePlanted, equals_its_truth_at_every_coordinate) {
  for (const auto& dims : {std::vector<Index>{13, 9, 17}, {30, 40}, {6, 1, 7, 5}}) {
    const auto [x, truth] =
        generate_planted({.dims = dims, .num_nonzeros = 100, .num_components = 4, .seed = 3});
    expect_sorted_distinct_in_range(x);
    std::vector<Index> at(dims.size(), 0);
    Index z = 0;
    do {
      const double expected = kernels::ref::entry<double>(truth, at);
      const bool present = z < x.num_nonzeros() && coordinates(x, z) == at;
      if (present) {
        EXPECT_NEAR(x.values()[z], expected, 1e-14);
        EXPECT_GT(expected, 0);
        ++z;
      } else {
        EXPECT_EQ(expected, 0);
      }
    } while (advance(at, dims));
    EXPECT_EQ(z, x.num_nonzeros());
  }
}

TEST(GeneratePlanted, has_normalised_columns_and_about_as_many_nonzeros_as_asked_for) {
  const auto [x, truth] =
      generate_planted({.dims = {3000, 200, 500}, .num_nonzeros = 50000, .num_components = 5});
  EXPECT_NEAR(double(x.num_nonzeros()), 50000, 5000);
  ASSERT_EQ(truth.num_components(), 5);
  for (const auto& factor : truth.factors)
    for (Index r = 0; r < 5; ++r) {
      double squares = 0;
      for (Index i = 0; i < factor.num_rows(); ++i) squares += factor(i, r) * factor(i, r);
      EXPECT_NEAR(squares, 1, 1e-12);
    }
}

TEST(GeneratePlanted, adds_noise_of_the_size_asked_for_to_the_nonzeros_only) {
  const PlantedOptions exact{.dims = {300, 200, 100}, .num_nonzeros = 40000, .num_components = 3};
  PlantedOptions noisy = exact;
  noisy.noise = 0.25;
  const auto x = generate_planted(exact).tensor, y = generate_planted(noisy).tensor;
  ASSERT_EQ(x.num_nonzeros(), y.num_nonzeros());
  double signal = 0, noise = 0;
  for (Index z = 0; z < x.num_nonzeros(); ++z) {
    ASSERT_EQ(coordinates(x, z), coordinates(y, z));
    signal += x.values()[z] * x.values()[z];
    noise += std::pow(y.values()[z] - x.values()[z], 2);
  }
  EXPECT_NEAR(std::sqrt(noise / signal), 0.25, 0.01);
}

TEST(GeneratePlanted, is_the_same_for_any_number_of_threads) {
  const auto make = [] {
    return generate_planted({.dims = {60, 50, 40}, .num_nonzeros = 6000, .num_components = 7, .noise = 0.1});
  };
  const auto one = with_threads(1, make);
  for (const int threads : {2, 3, 5}) {
    const auto other = with_threads(threads, make);
    EXPECT_EQ(one.tensor, other.tensor) << threads;
    EXPECT_EQ(one.truth, other.truth) << threads;
  }
}

TEST(GeneratePlanted, refuses_what_cannot_be) {
  EXPECT_EQ(refusal(PlantedOptions{.dims = {2, 3}, .num_nonzeros = 7}),
            "7 nonzeros are asked for, but a tensor of 2 x 3 has only 6 coordinates");
  EXPECT_EQ(refusal(PlantedOptions{.dims = {2, 3}, .num_nonzeros = 2, .num_components = 3}),
            "the number of nonzeros must be at least the number of components");
  EXPECT_EQ(refusal(PlantedOptions{.dims = {2, 3}, .num_nonzeros = 2, .num_components = 0}),
            "the number of components must be positive");
  EXPECT_EQ(refusal(PlantedOptions{.dims = {2, 3}, .num_nonzeros = 2, .noise = -1}),
            "the noise must be 0 or more");
}

RatingsOptions some_ratings() {
  return {.num_users = 3000, .num_items = 800, .num_ratings = 60000, .seed = 4};
}

TEST(GenerateRatings, holds_out_the_fraction_asked_for_and_loses_no_rating) {
  const auto [train, test, floor] = generate_ratings(some_ratings());
  EXPECT_EQ(train.num_nonzeros() + test.num_nonzeros(), 60000);
  EXPECT_NEAR(double(test.num_nonzeros()), 6000, 300);
  expect_sorted_distinct_in_range(train);
  expect_sorted_distinct_in_range(test);
  std::set<std::vector<Index>> pairs;
  for (const auto* part : {&train, &test})
    for (Index z = 0; z < part->num_nonzeros(); ++z) pairs.insert(coordinates(*part, z));
  EXPECT_EQ(pairs.size(), 60000);
  EXPECT_EQ(train.extents(), (std::vector<Index>{3000, 800}));
  EXPECT_EQ(test.extents(), train.extents());
}

TEST(GenerateRatings, are_halves_around_the_mean) {
  const auto [train, test, floor] = generate_ratings(some_ratings());
  double sum = 0, squares = 0;
  for (const double v : train.values()) {
    ASSERT_TRUE(v >= 0.5 && v <= 5 && 2 * v == std::floor(2 * v)) << v;
    sum += v;
    squares += v * v;
  }
  const double n = double(train.num_nonzeros()), mean = sum / n;
  EXPECT_NEAR(mean, 3.5, 0.15);
  EXPECT_NEAR(std::sqrt(squares / n - mean * mean), 1.0, 0.1);
  EXPECT_NEAR(floor, 0.67, 0.03);
}

TEST(GenerateRatings, without_noise_are_the_model_rounded_to_halves) {
  auto options = some_ratings();
  options.noise = 0;
  EXPECT_NEAR(generate_ratings(options).noise_floor, 0.5 / std::sqrt(12.0), 0.01);
  options.num_factors = 0;
  options.user_bias = options.item_bias = 0;
  const auto constant = generate_ratings(options);
  for (const double v : constant.train.values()) ASSERT_EQ(v, 3.5);
  EXPECT_EQ(constant.noise_floor, 0);
}

TEST(GenerateRatings, are_the_same_for_any_number_of_threads) {
  const auto make = [] { return generate_ratings(some_ratings()); };
  const auto one = with_threads(1, make);
  for (const int threads : {2, 3, 5}) {
    const auto other = with_threads(threads, make);
    EXPECT_EQ(one.train, other.train) << threads;
    EXPECT_EQ(one.test, other.test) << threads;
    EXPECT_EQ(one.noise_floor, other.noise_floor) << threads;
  }
}

TEST(GenerateRatings, refuses_what_cannot_be) {
  auto options = some_ratings();
  options.test_fraction = 1.5;
  EXPECT_EQ(refusal(options), "the fraction held out must be between 0 and 1");
  options = some_ratings();
  options.noise = -1;
  EXPECT_EQ(refusal(options), "each standard deviation must be 0 or more");
  options = some_ratings();
  options.num_ratings = 3000 * 800 + 1;
  EXPECT_EQ(refusal(options),
            "2400001 nonzeros are asked for, but a tensor of 3000 x 800 has only 2400000 coordinates");
}

}  // namespace
}  // namespace polyad
