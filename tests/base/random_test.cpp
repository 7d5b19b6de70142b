#include "polyad/base/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace polyad {
namespace {

// The known answers that the authors of Random123 publish for philox4x32 with ten rounds.
TEST(Philox, gives_the_published_answers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, is_a_function_of_seed_stream_and_index) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    for (std::uint64_t stream = 0; stream < 4; ++stream)
      for (std::uint64_t index = 0; index < 64; ++index) {
        EXPECT_EQ(Random(seed, stream).bits(index), Random(seed, stream).bits(index));
        seen.insert(Random(seed, stream).bits(index)[0]);
      }

  EXPECT_EQ(seen.size(), 4 * 4 * 64);
}

TEST(Random, uses_all_64_bits_of_each_of_them) {
  const auto base = Random(1, 2).bits(3);

  EXPECT_NE(Random(1 + (std::uint64_t(1) << 40), 2).bits(3), base);
  EXPECT_NE(Random(1, 2 + (std::uint64_t(1) << 40)).bits(3), base);
  EXPECT_NE(Random(1, 2).bits(3 + (std::uint64_t(1) << 40)), base);
}

TEST(Random, uniform_numbers_fill_the_unit_interval_evenly) {
  const Random random(7, 1);
  std::array<int, 10> count{};
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const double u = random.uniform(i);
    ASSERT_TRUE(u >= 0 && u < 1);
    ++count[std::size_t(10 * u)];
  }

  for (const int n : count) EXPECT_NEAR(n, 10'000, 500);  // five standard deviations
}

TEST(Random, normal_numbers_have_the_moments_of_a_normal) {
  const Random random(7, 2);
  constexpr int n = 200'000;
  std::array<double, 5> moment{};
  for (std::uint64_t i = 0; i < n; ++i)
    for (int k = 1; k <= 4; ++k) moment[std::size_t(k)] += std::pow(random.normal(i), k) / n;

  EXPECT_NEAR(moment[1], 0, 0.012);
  EXPECT_NEAR(moment[2], 1, 0.016);
  EXPECT_NEAR(moment[3], 0, 0.05);
  EXPECT_NEAR(moment[4], 3, 0.12);
}

TEST(Random, below_stays_below_and_reaches_every_value) {
  for (const std::uint64_t bound : {1, 2, 3, 7}) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < 200; ++i) seen.insert(Random(3, bound).below(bound, i));
    EXPECT_EQ(seen.size(), bound);
    EXPECT_EQ(*seen.rbegin(), bound - 1);
  }
  EXPECT_LT(Random(3, 0).below(~std::uint64_t(0), 5), ~std::uint64_t(0));
}

}  // namespace
}  // namespace polyad
