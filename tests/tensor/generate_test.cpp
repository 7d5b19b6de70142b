#include "polyad/tensor/generate/generate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "polyad/base/random.hpp"
#include "polyad/tensor/generate/permutation.hpp"
#include "polyad/tensor/generate/zipf.hpp"
#include "polyad/tensor/sort.hpp"
#include "tests/support/generated.hpp"

namespace polyad {
namespace {

using test::coordinates;
using test::expect_sorted_distinct_in_range;
using test::refusal_by;
using test::with_threads;

// Everything at once: fibers, blocks, a corner, the diagonal and Zipf laws.
SkewedOptions mixture() {
  return {.dims = {700, 500, 90},
          .num_nonzeros = 20000,
          .seed = 7,
          .exponents = {0.6, 1.0, 1.3},
          .fiber_mode = 1,
          .fiber_mean = 5,
          .num_blocks = 3,
          .block_dims = {20, 30, 10},
          .block_share = 0.3,
          .corner_dims = {15, 15, 15},
          .corner_share = 0.1,
          .diagonal_share = 0.2};
}

std::string refusal(const SkewedOptions& options) {
  return refusal_by([&] { generate_skewed(options); });
}

std::vector<Index> frequencies(std::span<const Index> indices, Index dim) {
  std::vector<Index> counts(dim);
  for (const Index i : indices) ++counts[i];
  return counts;
}

// The share of nonzeros for which `holds` is true of the coordinates.
template <class Holds>
double share(const SparseTensor<double>& x, Holds holds) {
  Index count = 0;
  for (Index z = 0; z < x.num_nonzeros(); ++z) count += holds(coordinates(x, z));
  return double(count) / double(x.num_nonzeros());
}

TEST(RandomPermutation, is_a_bijection_of_every_dimension) {
  for (const Index n : {1, 2, 3, 4, 5, 7, 16, 17, 100, 255, 256, 257, 65537, 1000003}) {
    const RandomPermutation shuffled(n, Random(5, 0));
    std::vector<char> hit(n, 0);
    for (Index i = 0; i < n; ++i) {
      const Index image = shuffled(i);
      ASSERT_TRUE(image >= 0 && image < n) << n;
      ASSERT_FALSE(hit[image]) << n;
      hit[image] = 1;
    }
  }
}

TEST(RandomPermutation, stays_in_range_for_the_largest_dimension) {
  const Index n = Index(1) << 62;
  const RandomPermutation shuffled(n, Random(5, 0));
  std::set<Index> images;
  for (const Index i : {Index(0), Index(1), n / 2, n - 2, n - 1}) {
    EXPECT_TRUE(shuffled(i) >= 0 && shuffled(i) < n);
    images.insert(shuffled(i));
  }
  EXPECT_EQ(images.size(), 5);
}

TEST(RandomPermutation, leaves_hardly_an_index_near_its_place) {
  const Index n = 100000;
  const RandomPermutation shuffled(n, Random(5, 0));
  Index near = 0, rising = 0;
  for (Index i = 1; i < n; ++i) {
    near += std::abs(shuffled(i) - i) < n / 100;
    rising += shuffled(i) > shuffled(i - 1);
  }
  EXPECT_NEAR(double(near) / double(n), 0.02, 0.004);
  EXPECT_NEAR(double(rising) / double(n), 0.5, 0.02);
}

TEST(ZipfLaw, follows_the_continuous_law) {
  const Index n = 50, draws = 200000;
  for (const double s : {0.0, 0.5, 0.999999, 1.0, 1.000001, 1.7, 4.0}) {
    const ZipfLaw law(n, s);
    std::vector<Index> counts(n);
    for (Index d = 0; d < draws; ++d) ++counts[law(Random(3, 0).bits(d)[0])];
    const auto below = [&](double x) { return s == 1 ? std::log(x) : (std::pow(x, 1 - s) - 1) / (1 - s); };
    double chi_square = 0;
    for (Index k = 0; k < n; ++k) {
      const double p = s == 0 ? 1.0 / n : (below(double(k) + 2) - below(double(k) + 1)) / below(n + 1.0);
      const double expected = p * double(draws);
      chi_square += (double(counts[k]) - expected) * (double(counts[k]) - expected) / expected;
    }
    EXPECT_LT(chi_square, 85) << s;  // 49 degrees of freedom: one seed in a thousand is above
  }
}

TEST(ZipfLaw, stays_in_range_at_both_ends) {
  for (const Index n : {Index(1), Index(2), Index(17262471), Index(1) << 62})
    for (const double s : {0.0, 0.3, 1.0, 2.5, 50.0}) {
      const ZipfLaw law(n, s);
      EXPECT_EQ(law(0), 0);
      const Index last = law(~std::uint64_t(0));
      EXPECT_TRUE(last >= 0 && last < n) << n << " " << s;
    }
}

TEST(GenerateSkewed, is_the_same_for_any_number_of_threads) {
  const auto one = with_threads(1, [] { return generate_skewed(mixture()); });
  for (const int threads : {2, 3, 5})
    EXPECT_EQ(one, with_threads(threads, [] { return generate_skewed(mixture()); })) << threads;
}

TEST(GenerateSkewed, draws_distinct_coordinates_of_every_order) {
  for (int order = 2; order <= 6; ++order) {
    SkewedOptions options;
    options.dims.assign(order, 40);
    options.dims[1] = 25;
    options.exponents.assign(order, 0.7);
    options.num_nonzeros = 600;
    options.fiber_mode = order - 1;
    options.fiber_mean = 3;
    const auto x = generate_skewed(options);
    EXPECT_EQ(x.num_nonzeros(), 600);
    EXPECT_EQ(x.extents(), options.dims);
    expect_sorted_distinct_in_range(x);
  }
}

TEST(GenerateSkewed, sorts_coordinates_that_do_not_fit_one_word) {
  const Index big = Index(1) << 40;
  const auto x = generate_skewed({.dims = {big, big, big}, .num_nonzeros = 5000, .exponents = {1, 2, 3}});
  EXPECT_EQ(x.num_nonzeros(), 5000);
  expect_sorted_distinct_in_range(x);
}

TEST(GenerateSkewed, fills_a_tensor_to_the_last_coordinate) {
  const auto x = generate_skewed({.dims = {1, 6, 1, 5}, .num_nonzeros = 30, .exponents = {2, 0.5, 1, 0.2}});
  EXPECT_EQ(x.num_nonzeros(), 30);
  expect_sorted_distinct_in_range(x);
  EXPECT_EQ(generate_skewed({.dims = {1, 1}, .num_nonzeros = 1}).num_nonzeros(), 1);
  EXPECT_EQ(generate_skewed({.dims = {4, 4}, .num_nonzeros = 0}).num_nonzeros(), 0);
}

TEST(GenerateSkewed, holds_a_smaller_tensor_of_the_same_seed) {
  auto options = mixture();
  const auto large = generate_skewed(options);
  options.num_nonzeros = 3000;
  const auto small = generate_skewed(options);
  std::set<std::pair<std::vector<Index>, double>> all;
  for (Index z = 0; z < large.num_nonzeros(); ++z) all.insert({coordinates(large, z), large.values()[z]});
  for (Index z = 0; z < small.num_nonzeros(); ++z)
    ASSERT_TRUE(all.count({coordinates(small, z), small.values()[z]}));
}

TEST(GenerateSkewed, differs_between_seeds) {
  auto options = mixture();
  const auto x = generate_skewed(options);
  options.seed = 8;
  const auto y = generate_skewed(options);
  std::set<std::vector<Index>> of_x;
  for (Index z = 0; z < x.num_nonzeros(); ++z) of_x.insert(coordinates(x, z));
  EXPECT_LT(share(y, [&](const auto& at) { return of_x.count(at) > 0; }), 0.1);
}

TEST(GenerateSkewed, has_counts_that_halve_as_values) {
  const auto x = generate_skewed({.dims = {3000, 3000}, .num_nonzeros = 40000});
  std::vector<Index> counts(70);
  for (const double v : x.values()) {
    ASSERT_EQ(v, std::floor(v));
    ++counts[Index(v)];
  }
  EXPECT_EQ(counts[0], 0);
  EXPECT_NEAR(double(counts[1]), 20000, 500);
  EXPECT_NEAR(double(counts[3]), 5000, 300);
}

TEST(GenerateSkewed, orders_labels_by_frequency_only_when_asked) {
  SkewedOptions options{.dims = {1000, 100000},
                        .num_nonzeros = 50000,
                        .index_order = IndexOrder::ordered,
                        .exponents = {1.0, 0.0}};
  const auto ordered = frequencies(generate_skewed(options).indices(0), 1000);
  // The first of 1000 has the share log 2 / log 1001.
  EXPECT_NEAR(double(ordered[0]) / 50000, std::log(2.0) / std::log(1001.0), 0.01);
  EXPECT_GT(ordered[0], ordered[3]);
  EXPECT_GT(ordered[3], ordered[30]);
  options.index_order = IndexOrder::shuffled;
  auto shuffled = frequencies(generate_skewed(options).indices(0), 1000);
  EXPECT_NE(std::max_element(shuffled.begin(), shuffled.end()), shuffled.begin());
  std::sort(shuffled.rbegin(), shuffled.rend());
  EXPECT_NEAR(double(shuffled[0]), double(ordered[0]), 300);
}

TEST(GenerateSkewed, draws_fibers_of_the_mean_length) {
  const auto x = generate_skewed(
      {.dims = {100000, 100000, 100000}, .num_nonzeros = 60000, .fiber_mode = 2, .fiber_mean = 4});
  Index fibers = 0, single = 0;
  const auto same_fiber = [&](Index a, Index b) {
    return x.indices(0)[a] == x.indices(0)[b] && x.indices(1)[a] == x.indices(1)[b];
  };
  for (Index z = 0; z < x.num_nonzeros(); ++z) {
    const bool begins = z == 0 || !same_fiber(z - 1, z);
    const bool ends = z + 1 == x.num_nonzeros() || !same_fiber(z, z + 1);
    fibers += begins;
    single += begins && ends;
  }
  EXPECT_NEAR(60000.0 / double(fibers), 4, 0.1);
  EXPECT_NEAR(double(single) / double(fibers), 0.25, 0.02);  // geometric: P(1) = 1 / mean
}

TEST(GenerateSkewed, puts_the_share_asked_for_into_blocks) {
  SkewedOptions options{.dims = {5000, 4000, 3000},
                        .num_nonzeros = 30000,
                        .index_order = IndexOrder::ordered,
                        .exponents = {},
                        .num_blocks = 2,
                        .block_dims = {40, 40, 40},
                        .block_share = 0.4};
  const auto x = generate_skewed(options);
  // The slices of two blocks hold the share of the blocks; 80 slices of 5000 else hold 1.6 %.
  auto counts = frequencies(x.indices(0), 5000);
  std::sort(counts.rbegin(), counts.rend());
  const double dense = double(std::accumulate(counts.begin(), counts.begin() + 80, Index(0))) / 30000;
  EXPECT_NEAR(dense, 0.4, 0.03);
  EXPECT_GT(counts[70], 10 * counts[200]);
}

TEST(GenerateSkewed, puts_the_shares_asked_for_into_corner_and_diagonal) {
  auto options = options_like("fb");
  options.num_nonzeros = 40000;
  const auto x = generate_skewed(options);
  const auto in_corner = [](const auto& at) { return at[0] < 600 && at[1] < 600 && at[2] < 24; };
  const auto near_diagonal = [&](const auto& at) { return !in_corner(at) && std::abs(at[0] - at[1]) < 200; };
  EXPECT_NEAR(share(x, in_corner), 0.30, 0.02);
  EXPECT_NEAR(share(x, near_diagonal), 0.50, 0.02);
  double distance = 0, count = 0;
  for (Index z = 0; z < x.num_nonzeros(); ++z)
    if (const auto at = coordinates(x, z); near_diagonal(at)) {
      distance += double(std::abs(at[0] - at[1]));
      ++count;
    }
  EXPECT_NEAR(distance / count, 20, 1);
}

TEST(GenerateSkewed, follows_the_diagonal_of_a_rectangle) {
  const auto x = generate_skewed({.dims = {9000, 3000},
                                  .num_nonzeros = 5000,
                                  .index_order = IndexOrder::ordered,
                                  .exponents = {},
                                  .diagonal_share = 1,
                                  .diagonal_distance = 5});
  expect_sorted_distinct_in_range(x);
  EXPECT_GT(share(x, [](const auto& at) { return std::abs(at[0] - 3 * at[1]) < 100; }), 0.99);
}

TEST(GenerateSkewed, says_how_many_coordinates_there_are) {
  EXPECT_EQ(refusal(SkewedOptions{.dims = {3, 4}, .num_nonzeros = 13}),
            "13 nonzeros are asked for, but a tensor of 3 x 4 has only 12 coordinates");
  const SkewedOptions small_block{.dims = {100, 100},
                                  .num_nonzeros = 50,
                                  .exponents = {},
                                  .num_blocks = 1,
                                  .block_dims = {5, 4},
                                  .block_share = 1};
  EXPECT_NE(refusal(small_block).find("only 20 distinct coordinates could be drawn of the 50 asked for"),
            std::string::npos);
}

TEST(GenerateSkewed, refuses_options_without_meaning) {
  using O = SkewedOptions;
  const auto with = [](auto O::*member, auto value) {
    auto options = mixture();
    options.*member = value;
    return refusal(options);
  };
  using Dims = std::vector<Index>;
  using Exponents = std::vector<double>;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(with(&O::dims, Dims{5}), "a tensor has 2 to 16 modes; 1 dimensions are given");
  EXPECT_EQ(with(&O::dims, Dims{5, 0, 5}), "each dimension must be between 1 and 2^62");
  EXPECT_EQ(with(&O::num_nonzeros, -1), "the number of nonzeros must be 0 or more");
  EXPECT_EQ(with(&O::exponents, Exponents{1, 2}), "the exponents must be one number per mode");
  EXPECT_EQ(with(&O::exponents, Exponents{-0.5, 1, 1}), "each Zipf exponent must be 0 or more");
  EXPECT_EQ(with(&O::exponents, Exponents{1, 1, nan}), "each Zipf exponent must be 0 or more");
  EXPECT_EQ(with(&O::fiber_mode, 3), "the fiber mode must be a mode of the tensor");
  EXPECT_EQ(with(&O::fiber_mean, 0.5), "the mean fiber length must be 1 or more");
  EXPECT_EQ(with(&O::block_share, 0.9),
            "the shares of blocks, corner and diagonal must be between 0 and 1, also together");
  EXPECT_EQ(with(&O::block_dims, Dims{5, 5}), "the block dimensions must be one positive number per mode");
  EXPECT_EQ(with(&O::corner_dims, Dims{0, 5, 5}),
            "the corner dimensions must be one positive number per mode");
  EXPECT_EQ(with(&O::num_blocks, 0),
            "the number of blocks must be positive when a share of the draws falls into blocks");
}

TEST(Like, scales_every_preset) {
  EXPECT_EQ(like_names(), (std::vector<std::string>{"nell", "netflix", "delicious", "fb"}));
  for (const auto& name : like_names()) {
    const auto options = options_like(name, 0.004);
    const auto x = generate_skewed(options);
    EXPECT_EQ(x.num_nonzeros(), options.num_nonzeros) << name;
    EXPECT_EQ(x.extents(), options.dims) << name;
    EXPECT_NEAR(double(options.num_nonzeros), 0.004 * double(options_like(name).num_nonzeros), 1) << name;
    expect_sorted_distinct_in_range(x);
  }
  EXPECT_EQ(refusal_by([] { options_like("uber"); }),
            "there is no tensor 'uber' to generate the like of; there are nell, netflix, delicious, fb");
  EXPECT_EQ(refusal_by([] { options_like("fb", 0); }), "the scale must be positive and at most 1e6, found 0");
}

}  // namespace
}  // namespace polyad
