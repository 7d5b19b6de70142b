#include "polyad/tensor/ratings/split_ratings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "polyad/base/random.hpp"
#include "tests/support/random_ratings.hpp"

namespace polyad {
namespace {

using Triple = std::tuple<Index, Index, double>;

std::multiset<Triple> triples(const SparseTensor<double>& x) {
  std::multiset<Triple> all;
  for (Index z = 0; z < x.num_nonzeros(); ++z) all.emplace(x.indices(0)[z], x.indices(1)[z], x.values()[z]);
  return all;
}

SparseTensor<double> reversed(const SparseTensor<double>& x) {
  SparseTensor<double> result(x.extents());
  for (Index z = x.num_nonzeros() - 1; z >= 0; --z)
    result.append(std::vector{x.indices(0)[z], x.indices(1)[z]}, x.values()[z]);
  return result;
}

SparseTensor<double> distinct_ratings(std::uint64_t seed) {
  auto ratings = test::random_ratings({200, 80, 1, 5000}, seed);
  keep_last_ratings(ratings);
  return ratings;
}

TEST(SplitRatings, puts_every_rating_on_one_side_whatever_the_order) {
  const auto x = distinct_ratings(1);
  for (const auto kind : {RatingSplit::Kind::fraction, RatingSplit::Kind::leave_one_out}) {
    const RatingSplit split{kind, 0.1, 7};
    const auto parts = split_ratings(x, split);
    auto both = triples(parts.train);
    both.merge(triples(parts.test));
    EXPECT_EQ(both, triples(x));
    EXPECT_EQ(triples(split_ratings(reversed(x), split).test), triples(parts.test));
    EXPECT_NE(triples(split_ratings(x, {kind, 0.1, 8}).test), triples(parts.test));
  }
}

TEST(SplitRatings, holds_out_about_the_share_that_was_asked_for) {
  const auto x = distinct_ratings(2);
  for (const double fraction : {0.1, 0.5, 0.9}) {
    const auto parts = split_ratings(x, {RatingSplit::Kind::fraction, fraction, 3});
    EXPECT_NEAR(double(parts.test.num_nonzeros()) / double(x.num_nonzeros()), fraction, 0.03);
  }
  EXPECT_EQ(split_ratings(x, {}).test.num_nonzeros(), 0);
  EXPECT_EQ(split_ratings(x, {}).train, x);
}

TEST(SplitRatings, leaves_one_out_of_every_user_that_has_two) {
  SparseTensor<double> x({4, 5});
  for (const auto& [i, j] :
       std::vector<std::pair<Index, Index>>{{0, 0}, {1, 0}, {1, 4}, {3, 1}, {3, 2}, {3, 3}})
    x.append(std::vector{i, j}, 1);
  std::map<Index, int> held;
  const auto parts = split_ratings(x, {RatingSplit::Kind::leave_one_out, 0, 1});
  for (const Index user : parts.test.indices(0)) ++held[user];
  EXPECT_EQ(held, (std::map<Index, int>{{1, 1}, {3, 1}}));
}

TEST(LearnedTests, are_pairs_that_training_has_too) {
  SplitRatings ratings{SparseTensor<double>({4, 5}), SparseTensor<double>({4, 5})};
  EXPECT_EQ(count_learned_tests(ratings), 0);
  for (const auto& [user, item] : {std::pair{0, 1}, {0, 4}, {2, 0}, {3, 3}})
    ratings.train.append(std::vector<Index>{user, item}, 1);
  EXPECT_EQ(count_learned_tests(ratings), 0);
  for (const auto& [user, item] : {std::pair{0, 0}, {0, 4}, {1, 0}, {2, 0}, {2, 1}, {3, 4}})
    ratings.test.append(std::vector<Index>{user, item}, 2);
  EXPECT_EQ(count_learned_tests(ratings), 2);
  EXPECT_EQ(leave_out_learned_tests(ratings), 2);
  const auto users = ratings.test.indices(0), items = ratings.test.indices(1);
  EXPECT_EQ(std::vector<Index>(users.begin(), users.end()), (std::vector<Index>{0, 1, 2, 3}));
  EXPECT_EQ(std::vector<Index>(items.begin(), items.end()), (std::vector<Index>{0, 0, 1, 4}));
  EXPECT_EQ(count_learned_tests(ratings), 0);
}

TEST(KeepLastRatings, sorts_and_drops_what_a_later_line_says_again) {
  SparseTensor<double> x({2, 2});
  x.append(std::vector<Index>{1, 1}, 1);
  x.append(std::vector<Index>{0, 1}, 2);
  x.append(std::vector<Index>{1, 1}, 0);
  x.append(std::vector<Index>{0, 0}, 4);
  x.append(std::vector<Index>{0, 1}, 5);
  EXPECT_EQ(keep_last_ratings(x), 2);
  EXPECT_EQ(triples(x), (std::multiset<Triple>{{0, 0, 4}, {0, 1, 5}, {1, 1, 0}}));
  EXPECT_TRUE(std::ranges::is_sorted(x.indices(0)));
}

}  // namespace
}  // namespace polyad
