#include "polyad/kernels/ratings/top_items.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "tests/support/random_ratings.hpp"

namespace polyad::kernels {
namespace {

using test::Biases;
using test::Entries;
using test::random_rating_model;
using test::random_ratings;
using test::rating_shapes;

std::vector<Index> all_below(Index count) {
  std::vector<Index> list(std::size_t(count), 0);
  std::iota(list.begin(), list.end(), Index(0));
  return list;
}

std::vector<Index> every_third(Index count) {
  auto list = all_below(count);
  std::erase_if(list, [](Index i) { return i % 3 == 1; });
  return list;
}

// All candidates that the user has not rated, sorted by their definition.
template <class Real>
ScoredItems naive_top(const RatingModel<Real>& model, Index user, const SparseTensor<double>& ratings,
                      std::span<const Index> candidates, Index count) {
  ScoredItems items;
  for (const Index item : candidates) {
    bool is_rated = false;
    for (Index z = 0; z < ratings.num_nonzeros(); ++z)
      is_rated |= ratings.indices(0)[z] == user && ratings.indices(1)[z] == item;
    if (!is_rated) items.push_back({item, ref::predicted_rating(model, user, item)});
  }
  std::ranges::stable_sort(items, std::ranges::greater(), &ScoredItem::score);
  items.resize(std::min<std::size_t>(items.size(), std::size_t(count)));
  return items;
}

TEST(RatingsByUser, are_those_of_the_tensor_by_user_and_item) {
  std::uint64_t seed = 0;
  for (const auto& shape : rating_shapes()) {
    const auto ratings = random_ratings(shape, ++seed);
    const auto grouped = group_by_user(ratings);
    ASSERT_EQ(grouped.num_users(), shape.users);
    for (Index user = 0; user < shape.users; ++user) {
      std::vector<std::pair<Index, double>> expected, found;
      for (Index z = 0; z < shape.ratings; ++z)
        if (ratings.indices(0)[z] == user) expected.emplace_back(ratings.indices(1)[z], ratings.values()[z]);
      std::ranges::stable_sort(expected, {}, &std::pair<Index, double>::first);
      for (std::size_t i = 0; i < grouped.items_of(user).size(); ++i)
        found.emplace_back(grouped.items_of(user)[i], grouped.values_of(user)[i]);
      EXPECT_EQ(found, expected);
    }
  }
}

// Whole numbers: sums are exact, so the order is too, with its many ties.
template <class Real>
void expect_naive_order() {
  std::uint64_t seed = 0;
  for (const auto& shape : rating_shapes())
    for (const auto biases : {Biases::with, Biases::without})
      for (const Index count : {0, 1, 5, 100}) {
        const auto model = random_rating_model<Real>(shape, biases, Entries::whole, ++seed);
        const auto ratings = random_ratings(shape, seed);
        const auto rated = group_by_user(ratings);
        const auto users = all_below(shape.users);
        const auto candidates = seed % 2 == 0 ? all_below(shape.items) : every_third(shape.items);

        const auto top = top_items(model, gather_users(model, users, &rated), candidates, count);
        const auto with_rated = top_items(model, gather_users(model, users, nullptr), candidates, count);

        ASSERT_EQ(std::ssize(top), shape.users);
        for (const Index user : users) {
          ASSERT_EQ(top[user], naive_top(model, user, ratings, candidates, count)) << "seed " << seed;
          ASSERT_EQ(with_rated[user],
                    naive_top(model, user, SparseTensor<double>({1, 1}), candidates, count));
        }
      }
}

TEST(TopItems, are_the_best_by_definition_in_double) {
  expect_naive_order<double>();
}

TEST(TopItems, are_the_best_by_definition_in_single) {
  expect_naive_order<float>();
}

TEST(TopItems, predictions_are_near_the_definition) {
  const test::RatingShape shape{50, 120, 37, 300};
  const auto model = random_rating_model<float>(shape, Biases::with, Entries::normal, 3);
  const auto top = top_items(model, gather_users(model, all_below(50), nullptr), all_below(120), 120);
  for (Index user = 0; user < 50; ++user) {
    ASSERT_EQ(top[user].size(), 120);
    for (std::size_t i = 0; i < 120; ++i) {
      EXPECT_NEAR(top[user][i].score, ref::predicted_rating(model, user, top[user][i].item), 1e-4);
      EXPECT_GE(top[user][i == 0 ? 0 : i - 1].score, top[user][i].score);
    }
  }
}

TEST(TopItems, have_the_same_bits_for_any_threads_and_any_company) {
  const test::RatingShape shape{600, 300, 21, 900};
  const auto model = random_rating_model<float>(shape, Biases::with, Entries::normal, 5);
  const auto users = all_below(600), items = all_below(300);
  const auto expected = top_items(model, gather_users(model, users, nullptr), items, 7);
  const int before = num_threads();
  for (const int threads : {1, 2, 5}) {
    omp_set_num_threads(threads);
    EXPECT_EQ(top_items(model, gather_users(model, users, nullptr), items, 7), expected);
    for (const Index user : {0, 1, 299, 598}) {
      const std::vector<Index> some{user + 1, user};
      EXPECT_EQ(top_items(model, gather_users(model, some, nullptr), items, 7)[1], expected[user]);
    }
  }
  omp_set_num_threads(before);
}

TEST(TopItems, more_than_single_precision_holds_is_an_error) {
  auto model = random_rating_model<float>({3, 40, 2, 1}, Biases::with, Entries::whole, 1);
  model.items(20, 1) = 3e38F;
  model.users(2, 1) = 4;
  EXPECT_THROW(top_items(model, gather_users(model, all_below(3), nullptr), all_below(40), 2), Error);
  model.users(2, 1) = -4;  // the worst, but no number either
  EXPECT_THROW(top_items(model, gather_users(model, all_below(3), nullptr), all_below(40), 50), Error);
}

TEST(SimilarRows, are_ordered_by_cosines_weighted_by_support) {
  for (const auto& shape : rating_shapes())
    for (const double support : {0.0, 5.0}) {
      std::vector<Index> counts;
      for (Index i = 0; i < shape.items; ++i) counts.push_back(i * 7 % 11 + 1);
      auto model = random_rating_model<double>(shape, Biases::without, Entries::normal, 9);
      std::ranges::fill(model.items.row(0), 0.0);
      const auto candidates = every_third(shape.items);
      for (Index item = 0; item < std::min<Index>(shape.items, 5); ++item) {
        ScoredItems expected;
        const auto cosine = [&](Index other) {
          const auto a = model.items.row(item), b = model.items.row(other);
          return std::inner_product(a.begin(), a.end(), b.begin(), 0.0) /
                 std::sqrt(std::inner_product(a.begin(), a.end(), a.begin(), 0.0) *
                           std::inner_product(b.begin(), b.end(), b.begin(), 0.0));
        };
        for (const Index other : candidates)
          if (other != item && other != 0 && item != 0)
            expected.push_back({other, (shape.factors == 1 ? std::round(cosine(other)) : cosine(other)) *
                                           (double(counts[other]) / (double(counts[other]) + support))});
        std::ranges::stable_sort(expected, std::ranges::greater(), &ScoredItem::score);
        expected.resize(std::min<std::size_t>(expected.size(), 8));

        const auto found = similar_rows(model.items, item, candidates, counts, support, 8);

        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
          EXPECT_EQ(found[i].row, expected[i].item);
          EXPECT_EQ(found[i].num_ratings, counts[found[i].row]);
          EXPECT_NEAR(found[i].similarity, expected[i].score, 1e-12);
          EXPECT_NEAR(found[i].cosine, cosine(found[i].row), 1e-12);
        }
      }
    }
}

TEST(SimilarRows, scale_does_not_matter_and_equals_come_by_item) {
  Matrix<double> items(5, 2);
  const double rows[5][2] = {{1e200, 0}, {1e-200, 0}, {3e300, 0}, {-1, 0}, {1, 1}};
  for (Index i = 0; i < 5; ++i) std::copy(rows[i], rows[i] + 2, items.row(i).begin());
  const std::vector<Index> counts(5, 3);
  const auto found = similar_rows(items, 0, all_below(5), counts, 1, 4);
  EXPECT_EQ(found[0], (SimilarRow{1, 0.75, 1, 3}));
  EXPECT_EQ(found[1], (SimilarRow{2, 0.75, 1, 3}));
  EXPECT_EQ(found[2].row, 4);
  EXPECT_EQ(found[3], (SimilarRow{3, -0.75, -1, 3}));
}

}  // namespace
}  // namespace polyad::kernels
