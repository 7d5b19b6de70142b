#include "polyad/kernels/ratings/item_neighbours.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

#include "polyad/base/parallel.hpp"
#include "polyad/kernels/ratings/top_items.hpp"
#include "tests/support/random_ratings.hpp"

namespace polyad::kernels {
namespace {

using test::random_ratings;

// With few items per user, and with many; with users who have no part; with more neighbours than are kept.
std::vector<test::RatingShape> neighbour_shapes() {
  auto shapes = test::rating_shapes();
  shapes.push_back({30, 5, 37, 400});
  shapes.push_back({60, 90, 1, 2000});
  shapes.push_back({5, 600, 2, 6000});
  return shapes;
}

// [item]: its similarity to all others, without those beyond the most similar ones.
std::vector<double> naive_neighbours(const RatingsByUser& rated, Index item, Index num_items,
                                     const RatingConfidence& confidence) {
  std::vector<double> row, sorted;
  for (Index other = 0; other < num_items; ++other)
    row.push_back(ref::item_similarity(rated, item, other, confidence));
  sorted = row;
  std::ranges::sort(sorted, std::greater());
  const auto kept = std::size_t(ItemNeighbours::max_count);
  if (sorted.size() <= kept) return row;
  Index left = ItemNeighbours::max_count -
               (std::ranges::count_if(row, [&](double s) { return s > sorted[kept - 1]; }));
  for (double& s : row)
    if (s < sorted[kept - 1] || (s == sorted[kept - 1] && left-- <= 0)) s = 0;
  return row;
}

TEST(ItemNeighbours, are_those_of_the_definition) {
  std::uint64_t seed = 0;
  for (const auto& shape : neighbour_shapes()) {
    const auto rated = group_by_user(random_ratings(shape, ++seed));
    const RatingConfidence confidence{double(seed % 3), 1 + double(seed % 2) * 2};
    const auto found = find_neighbours(rated, shape.items, confidence);
    ASSERT_EQ(found.num_items(), shape.items);
    const Index step = shape.items > 100 ? 37 : 1;  // the definition takes long
    for (Index item = 0; item < shape.items; item += step) {
      const auto expected = naive_neighbours(rated, item, shape.items, confidence);
      std::vector<double> row(expected.size(), 0);
      for (Index n = found.begins[item]; n < found.begins[item + 1]; ++n) {
        EXPECT_GT(found.similarities[n], 0);
        if (n > found.begins[item]) {
          EXPECT_LT(found.items[n - 1], found.items[n]);
        }
        row[found.items[n]] = found.similarities[n];
      }
      for (Index other = 0; other < shape.items; ++other)
        ASSERT_NEAR(row[other], expected[other], 1e-6) << "seed " << seed << ", " << item << ", " << other;
    }
  }
}

TEST(RatingWeight, is_that_of_least_squares_over_its_mean) {
  const std::vector<double> ratings{2, -4, 6};
  EXPECT_EQ(RatingWeight()(5), 1);
  EXPECT_EQ(RatingWeight({0, 3}, ratings)(5), 1) << "without alpha all count alike";
  const RatingWeight by_magnitude({3, 1}, ratings), by_cube({3, 3}, ratings);
  EXPECT_NEAR(by_magnitude(-4), 1, 1e-12) << "the mean of the magnitudes";
  EXPECT_NEAR(by_magnitude(2), (1 + 3 * 0.5) / 4, 1e-12);
  EXPECT_NEAR(by_cube(6), (1 + 3 * 216.0 / 96) / 4, 1e-12);
  double sum = 0;
  for (const double rating : ratings) sum += by_cube(rating);
  EXPECT_NEAR(sum, 3, 1e-12) << "once in the mean";
  EXPECT_EQ(by_cube(1000), 4) << "one rating does not rule the others";
  EXPECT_EQ(RatingWeight({3, 1}, std::vector<double>{0, 0})(0), 0.25) << "no mean to compare with";
}

TEST(ItemNeighbours, are_the_same_for_any_threads) {
  const auto rated = group_by_user(random_ratings({60, 190, 1, 3000}, 3));
  const auto expected = find_neighbours(rated, 190);
  ASSERT_FALSE(expected.items.empty());
  const int before = num_threads();
  for (const int threads : {1, 2, 5}) {
    omp_set_num_threads(threads);
    const auto found = find_neighbours(rated, 190);
    EXPECT_EQ(found.begins, expected.begins);
    EXPECT_EQ(found.items, expected.items);
    EXPECT_EQ(found.similarities, expected.similarities);
  }
  omp_set_num_threads(before);
}

// The score of every candidate, not only of the best, and places among all of them.
template <class Real>
void expect_naive_scores(double tolerance) {
  std::uint64_t seed = 0;
  for (const auto& shape : neighbour_shapes()) {
    auto model = test::random_rating_model<Real>(shape, test::Biases::with, test::Entries::normal, ++seed);
    model.neighbours = 0.5 * double(seed);
    model.confidence = {double(seed % 3), 1 + double(seed % 2) * 2};
    const auto rated = group_by_user(random_ratings(shape, seed));
    const auto neighbours = neighbours_for(model, rated);
    const RatingWeight weight(model.confidence, rated.values);
    ASSERT_TRUE(neighbours.has_value());
    std::vector<Index> users, candidates;
    for (Index user = 0; user < shape.users; ++user) users.push_back(user);
    for (Index item = 0; item < shape.items; ++item)
      if (item % 3 != Index(seed % 2)) candidates.push_back(item);
    auto rows = gather_users(model, users, nullptr);
    add_neighbours(rows, *neighbours, users, rated);
    const auto lists = top_items(model, rows, candidates, shape.items);
    for (const Index user : users) {
      ASSERT_EQ(lists[user].size(), candidates.size());
      std::vector<double> sums(std::size_t(shape.items), 0);
      Index before = -1;
      for (std::size_t i = 0; i < rated.items_of(user).size(); ++i) {
        const Index item = rated.items_of(user)[i];
        if (!(rated.values_of(user)[i] > 0) || item == before) continue;
        before = item;
        for (Index n = neighbours->begins[item]; n < neighbours->begins[item + 1]; ++n)
          sums[neighbours->items[n]] += weight(rated.values_of(user)[i]) * neighbours->similarities[n];
      }
      for (const auto& [item, score] : lists[user])
        ASSERT_NEAR(score, ref::predicted_rating(model, user, item) + model.neighbours * sums[item],
                    tolerance);
    }
  }
}

TEST(ItemNeighbours, add_to_scores_in_double) {
  expect_naive_scores<double>(1e-12);
}

TEST(ItemNeighbours, add_to_scores_in_single) {
  expect_naive_scores<float>(1e-4);
}

// Of users with few and with many similar items, which are summed in different ways, in turn.
TEST(ItemNeighbours, sums_of_candidates_are_those_of_all_their_neighbours) {
  constexpr Index num_items = 3000, num_similar = 5;
  ItemNeighbours neighbours;
  std::mt19937_64 random(3);
  for (Index item = 0; item < num_items; ++item) {
    neighbours.begins.push_back(Index(neighbours.items.size()));
    std::set<Index> similar;
    while (std::ssize(similar) < num_similar) similar.insert(Index(random() % num_items));
    for (const Index other : similar) {
      neighbours.items.push_back(std::int32_t(other));
      neighbours.similarities.push_back(float(1 + random() % 7) / 8);
    }
  }
  neighbours.begins.push_back(Index(neighbours.items.size()));
  std::vector<Index> candidates;
  for (Index item = 1; item < num_items; item += 1 + item % 2) candidates.push_back(item);
  NeighbourSums sums(neighbours, candidates);
  for (const Index step : {2999, 7, 1500, 1, 700}) {
    std::vector<Index> items;
    std::vector<double> expected(num_items, 0);
    for (Index item = 0; item < num_items; item += step) {
      items.push_back(item);
      for (Index n = neighbours.begins[item]; n < neighbours.begins[item + 1]; ++n)
        expected[neighbours.items[n]] += double(neighbours.similarities[n]);
    }
    const auto found = sums.of({items, std::vector<double>(items.size(), 1)});
    auto next = found.begin();
    for (Index place = 0; place < std::ssize(candidates); ++place) {
      if (expected[candidates[place]] == 0) continue;
      ASSERT_NE(next, found.end());
      EXPECT_EQ(next->place, place);
      EXPECT_EQ(next->sum, expected[candidates[place]]);  // sums of eighths
      ++next;
    }
    EXPECT_EQ(next, found.end());
  }
}

TEST(ItemNeighbours, places_of_targets_are_those_in_lists) {
  const test::RatingShape shape{40, 33, 8, 900};
  auto model = test::random_rating_model<double>(shape, test::Biases::with, test::Entries::normal, 9);
  model.neighbours = 5;
  const auto rated = group_by_user(random_ratings(shape, 9));
  const auto neighbours = find_neighbours(rated, shape.items);
  std::vector<Index> users, items;
  for (Index user = 0; user < shape.users; ++user) users.push_back(user);
  for (Index item = 0; item < shape.items; ++item) items.push_back(item);
  auto rows = gather_users(model, users, nullptr);
  add_neighbours(rows, neighbours, users, rated);
  const std::vector<Index> target{17};
  const std::vector<std::span<const Index>> targets(users.size(), target);
  const auto terms = terms_of_model(model);
  const auto ranked = rank_items<double>(model, rows, items, shape.items, targets, {&terms, 1}).front();
  for (const auto& [best, pairs_in_order] : ranked) {
    const auto place = std::ranges::find(best, 17, &ScoredItem::item) - best.begin();
    EXPECT_NEAR(pairs_in_order, 1 - double(place) / double(shape.items - 1), 1e-12);
  }
}

// So many that not all of what neighbours add fits into one panel of users.
TEST(ItemNeighbours, add_the_same_for_many_users_at_once_and_for_each_alone) {
  const test::RatingShape shape{300, 6000, 2, 36000};
  auto model = test::random_rating_model<double>(shape, test::Biases::with, test::Entries::normal, 4);
  model.neighbours = 2;
  const auto rated = group_by_user(random_ratings(shape, 4));
  const auto neighbours = find_neighbours(rated, shape.items);
  std::vector<Index> users, items;
  for (Index user = 0; user < shape.users; ++user) users.push_back(user);
  for (Index item = 0; item < shape.items; ++item) items.push_back(item);
  const auto lists_of = [&](std::span<const Index> of_users) {
    auto rows = gather_users(model, of_users, nullptr);
    add_neighbours(rows, neighbours, of_users, rated);
    return top_items(model, rows, items, 20);
  };
  Index num_terms = 0;
  for (const Index user : users)
    num_terms += std::min(shape.items, ItemNeighbours::max_count * std::ssize(rated.items_of(user)));
  ASSERT_GT(num_terms, max_neighbour_terms(shape.items));
  const int before = num_threads();
  omp_set_num_threads(1);
  const auto all = lists_of(users);
  for (std::size_t user = 0; user < users.size(); user += 23) {
    const auto alone = lists_of(std::span(users).subspan(user, 1));
    ASSERT_EQ(all[user].size(), alone[0].size());
    for (std::size_t i = 0; i < alone[0].size(); ++i) {
      EXPECT_EQ(all[user][i].item, alone[0][i].item);
      EXPECT_EQ(all[user][i].score, alone[0][i].score);
    }
  }
  omp_set_num_threads(before);
}

TEST(ItemNeighbours, there_are_none_without_a_weight) {
  const test::RatingShape shape{40, 33, 8, 900};
  const auto model = test::random_rating_model<double>(shape, test::Biases::with, test::Entries::normal, 9);
  EXPECT_FALSE(neighbours_for(model, group_by_user(random_ratings(shape, 9))).has_value());
}

}  // namespace
}  // namespace polyad::kernels
