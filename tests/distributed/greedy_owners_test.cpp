#include "polyad/distributed/cp/greedy_owners.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "polyad/base/random.hpp"

namespace polyad {
namespace {

// Rows and the parts that touch each, at random; heavy ones among them.
RowParts random_rows(int num_parts, Index num_rows, std::uint64_t seed) {
  RowParts rows;
  rows.begin.push_back(0);
  for (Index i = 0; i < num_rows; ++i) {
    rows.rows.push_back(3 * i);
    const double density = i % 7 == 0 ? 0.9 : 0.2;
    for (int p = 0; p < num_parts; ++p)
      if (p == i % num_parts || Random(seed, std::uint64_t(p)).uniform(std::uint64_t(i)) < density)
        rows.parts.push_back(p);
    rows.begin.push_back(std::ssize(rows.parts));
  }
  return rows;
}

// A naive implementation of the same rule, for one group.
std::vector<int> plain_owners(const RowParts& rows, int num_parts, int mode, double tolerance) {
  const int first = first_part(mode, 0, num_parts);
  std::vector<int> owners(std::size_t(rows.num_rows()), -1);
  std::vector<Index> load(std::size_t(num_parts), 0), count(load);
  const double mean = double(std::ssize(rows.parts) - rows.num_rows()) / num_parts;
  const auto is_better = [&](int a, int b) {
    const auto rank = [&](int p) { return (p - first + num_parts) % num_parts; };
    return std::tuple(load[a], count[a], rank(a)) < std::tuple(load[b], count[b], rank(b));
  };
  for (int lambda = num_parts; lambda >= 1; --lambda)
    for (Index i = 0; i < rows.num_rows(); ++i) {
      const auto parts = rows.of(i);
      if (std::ssize(parts) != lambda) continue;
      int best = parts[0];
      for (const int p : parts) best = is_better(p, best) ? p : best;
      if (lambda > 1 && double(load[best]) > (1 + tolerance) * mean)
        for (int p = 0; p < num_parts; ++p) best = is_better(p, best) ? p : best;
      owners[i] = best;
      load[best] += lambda - 1;
      ++count[best];
    }
  return owners;
}

TEST(OwnGreedily, follows_the_rule) {
  for (int seed = 1; seed <= 40; ++seed) {
    const int num_parts = 1 + seed % 9;
    const auto rows = random_rows(num_parts, 10 + 7 * seed, std::uint64_t(seed));
    const double tolerance = seed % 3 == 0 ? 0.0 : 0.05;
    const int mode = seed % 4;
    EXPECT_EQ(own_greedily(rows, num_parts, mode, tolerance), plain_owners(rows, num_parts, mode, tolerance))
        << seed;
  }
}

TEST(OwnGreedily, balances_many_rows_as_few) {
  const int num_parts = 7;
  const auto rows = random_rows(num_parts, 120000, 3);  // enough for several groups
  const auto owners = own_greedily(rows, num_parts, 0);
  std::vector<Index> load(num_parts, 0);
  Index total = 0, strangers = 0;
  for (Index i = 0; i < rows.num_rows(); ++i) {
    load[owners[i]] += std::ssize(rows.of(i)) - 1;
    total += std::ssize(rows.of(i)) - 1;
    strangers += std::ranges::count(rows.of(i), owners[i]) == 0 ? 1 : 0;
  }
  EXPECT_NE(owners, plain_owners(rows, num_parts, 0, greedy_tolerance));  // there are several
  EXPECT_LE(std::ranges::max(load),
            Index((1 + greedy_tolerance) * double(total) / num_parts) + 5 * num_parts);
  EXPECT_EQ(strangers, 0);
}

TEST(OwnGreedily, leaves_rows_of_one_part_at_home) {
  const auto rows = random_rows(6, 200, 1);
  const auto owners = own_greedily(rows, 6, 2);
  for (Index i = 0; i < rows.num_rows(); ++i)
    EXPECT_TRUE(rows.of(i).size() > 1 || owners[i] == rows.of(i)[0]);
}

// Where each group has a few rows for each part, and all of them started with the same part, it would own far
// more than others.
TEST(OwnGreedily, favours_no_part) {
  const int num_parts = 64;
  std::vector<Index> owned(num_parts, 0);
  for (int mode = 0; mode < 40; ++mode) {
    const auto rows = random_rows(num_parts, 20, std::uint64_t(mode));
    for (const int owner : own_greedily(rows, num_parts, mode)) ++owned[owner];
  }
  EXPECT_LE(std::ranges::max(owned), 30);  // 12.5 on average
  EXPECT_GE(std::ranges::min(owned), 2);
}

TEST(InvertTouched, lists_the_parts_of_every_row) {
  const std::vector<Index> touched{2, 5, 9, /* part 1 touches none */ 2, 9, 11}, counts{3, 0, 3};

  const auto rows = invert_touched(touched, counts);

  EXPECT_EQ(rows.rows, (Array<Index>{2, 5, 9, 11}));
  EXPECT_EQ(rows.begin, (std::vector<Index>{0, 2, 3, 5, 6}));
  EXPECT_EQ(rows.parts, (std::vector<int>{0, 2, 0, 0, 2, 2}));
}

}  // namespace
}  // namespace polyad
