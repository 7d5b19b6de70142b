#include "polyad/distributed/cp/greedy_owners.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "polyad/base/random.hpp"
#include "polyad/distributed/cp/balanced_owners.hpp"

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
  const auto rows = random_rows(num_parts, 1000000, 3);  // enough for several groups
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

// What the parts send and own, and with whom they exchange rows, counted anew for any owners.
struct CountedLoads {
  CountedLoads(const RowParts& rows, const std::vector<int>& owners, int num_parts)
      : sent(std::size_t(num_parts), 0), owned(sent) {
    for (Index i = 0; i < rows.num_rows(); ++i) {
      if (owners[i] < 0) continue;
      ++owned[owners[i]];
      for (const int part : rows.of(i)) {
        if (part == owners[i]) continue;
        ++sent[part], ++sent[owners[i]];
        pairs.insert({owners[i], part});
      }
    }
  }

  std::vector<Index> sent, owned;
  std::set<std::pair<int, int>> pairs;
};

// A naive implementation of the balanced rule, for one group: everything is counted anew for each row.
std::vector<int> plain_balanced_owners(const RowParts& rows, int num_parts, int mode) {
  const int first = first_part(mode, 0, num_parts);
  std::vector<int> owners(std::size_t(rows.num_rows()), -1);
  std::vector<Index> shared(std::size_t(num_parts), 0);  // rows that a part touches with others
  Index total = 0;
  for (Index i = 0; i < rows.num_rows(); ++i) {
    if (rows.of(i).size() == 1)
      owners[i] = rows.of(i)[0];
    else
      for (const int part : rows.of(i)) ++shared[part];
    total += 2 * (std::ssize(rows.of(i)) - 1);
  }
  const CountedLoads home(rows, owners, num_parts);
  const double max_sent =
      std::max((1 + balance_tolerance) * double(total) / num_parts, double(std::ranges::max(shared)));
  const double max_owned = std::max((1 + balance_tolerance) * double(rows.num_rows()) / num_parts,
                                    double(std::ranges::max(home.owned)));
  for (int lambda = num_parts; lambda > 1; --lambda)
    for (Index i = 0; i < rows.num_rows(); ++i) {
      const auto parts = rows.of(i);
      if (std::ssize(parts) != lambda) continue;
      const CountedLoads now(rows, owners, num_parts);
      // What a part will send if it gets no more rows: also its own rows that have no owner yet.
      const auto sends = [&](int p) {
        Index without_owner = 0;
        for (Index k = 0; k < rows.num_rows(); ++k)
          without_owner += owners[k] < 0 && std::ranges::count(rows.of(k), p) > 0 ? 1 : 0;
        return now.sent[p] + without_owner;
      };
      const auto key = [&](int p) {
        Index new_partners = 0;
        for (const int other : parts) new_partners += other != p && !now.pairs.contains({p, other}) ? 1 : 0;
        const bool exceeds = double(sends(p) + lambda - 2) > max_sent || double(now.owned[p] + 1) > max_owned;
        return std::tuple(exceeds, exceeds ? 0 : new_partners, sends(p), now.owned[p],
                          (p - first + num_parts) % num_parts);
      };
      owners[i] = *std::ranges::min_element(parts, {}, key);
    }
  return owners;
}

TEST(OwnBalanced, follows_the_rule) {
  for (int seed = 1; seed <= 40; ++seed) {
    const int num_parts = seed % 10 == 0 ? 70 : 1 + seed % 9, mode = seed % 4;  // more than bits of a word
    const auto rows = random_rows(num_parts, 10 + 2 * seed, std::uint64_t(seed));
    EXPECT_EQ(choose_owners(rows, num_parts, mode, RowRule::balanced),
              plain_balanced_owners(rows, num_parts, mode))
        << seed;
  }
}

// Groups of parts that share rows in pairs and threes: there is a choice of partners.
RowParts clustered_rows(int num_parts, Index num_rows, std::uint64_t seed) {
  RowParts rows;
  rows.begin.push_back(0);
  for (Index i = 0; i < num_rows; ++i) {
    rows.rows.push_back(i);
    const Random random(seed, std::uint64_t(i));
    const auto at = int(random.below(std::uint64_t(num_parts), 0));
    std::set<int> parts;
    for (int k = 0; k < 2 + int(random.below(2, 1)); ++k)
      parts.insert((at + int(random.below(8, std::uint64_t(k) + 2))) % num_parts);
    rows.parts.insert(rows.parts.end(), parts.begin(), parts.end());
    rows.begin.push_back(std::ssize(rows.parts));
  }
  return rows;
}

TEST(OwnBalanced, saves_messages_at_equal_volume) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const int num_parts = 64;
    const auto rows = clustered_rows(num_parts, 3000, seed);
    const CountedLoads greedy(rows, choose_owners(rows, num_parts, 0, RowRule::greedy), num_parts);
    const CountedLoads balanced(rows, choose_owners(rows, num_parts, 0, RowRule::balanced), num_parts);
    EXPECT_LT(double(std::ssize(balanced.pairs)), 0.88 * double(std::ssize(greedy.pairs)));
    EXPECT_LE(double(std::ranges::max(balanced.sent)), 1.05 * double(std::ranges::max(greedy.sent)));
  }
}

TEST(OwnBalanced, gives_rows_to_parts_that_touch_them) {
  const auto rows = random_rows(9, 500, 4);
  const auto owners = choose_owners(rows, 9, 1, RowRule::balanced);
  for (Index i = 0; i < rows.num_rows(); ++i) EXPECT_EQ(std::ranges::count(rows.of(i), owners[i]), 1);
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
