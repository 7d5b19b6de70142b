#include "polyad/kernels/ratings/ranking_metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "polyad/base/error.hpp"
#include "polyad/kernels/ratings/top_items.hpp"
#include "tests/support/random_ratings.hpp"

namespace polyad::kernels {
namespace {

using test::Biases;
using test::Entries;
using test::random_rating_model;
using test::random_ratings;

std::set<Index> items_of(const SparseTensor<double>& ratings, Index user, double threshold) {
  std::set<Index> items;
  for (Index z = 0; z < ratings.num_nonzeros(); ++z)
    if (ratings.indices(0)[z] == user && ratings.values()[z] >= threshold)
      items.insert(ratings.indices(1)[z]);
  return items;
}

// The definition, user by user, by sorting all items.
template <class Real>
RankingMetrics naive_ranking(const RatingModel<Real>& model, const SparseTensor<double>& training,
                             const SparseTensor<double>& held_out, Index k, double threshold) {
  RankingMetrics m{k, threshold};
  const std::set<Index> known(training.indices(1).begin(), training.indices(1).end());
  for (Index user = 0; user < model.num_users(); ++user) {
    const auto rated = items_of(training, user, -1e9);
    auto relevant = items_of(held_out, user, threshold);
    std::erase_if(relevant, [&](Index item) { return rated.contains(item); });
    if (relevant.empty()) continue;
    std::vector<Index> order;
    for (const Index item : known)
      if (!rated.contains(item)) order.push_back(item);
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](Index item) { return ref::predicted_rating(model, user, item); });
    double hits = 0, gain = 0, ideal = 0;
    for (Index place = 1; place <= k; ++place) {
      if (place <= std::ssize(relevant)) ideal += 1 / std::log2(place + 1.0);
      if (place > std::ssize(order) || !relevant.contains(order[place - 1])) continue;
      hits += 1;
      gain += 1 / std::log2(place + 1.0);
    }
    ++m.num_users;
    m.precision += hits / double(k);
    m.recall += hits / double(relevant.size());
    m.ndcg += gain / ideal;
  }
  for (double* sum : {&m.precision, &m.recall, &m.ndcg}) *sum /= std::max<double>(1, double(m.num_users));
  return m;
}

template <class Real>
void expect_metrics_by_definition() {
  std::uint64_t seed = 0;
  for (auto shape : test::rating_shapes())
    for (const Index k : {1, 3, 10})
      for (const double threshold : {-1.0, 2.5, 4.0, 9.0}) {
        const auto model = random_rating_model<Real>(shape, Biases::with, Entries::whole, ++seed);
        const auto training = random_ratings(shape, seed), held_out = random_ratings(shape, seed + 1000);

        const auto found = measure_ranking(model, training, held_out, k, threshold);

        const auto expected = naive_ranking(model, training, held_out, k, threshold);
        EXPECT_EQ(found.num_users, expected.num_users);
        EXPECT_EQ(found.k, k);
        EXPECT_EQ(found.threshold, threshold);
        EXPECT_NEAR(found.precision, expected.precision, 1e-12);
        EXPECT_NEAR(found.recall, expected.recall, 1e-12);
        EXPECT_NEAR(found.ndcg, expected.ndcg, 1e-12);
      }
}

TEST(RankingMetrics, are_the_definition_in_double) {
  expect_metrics_by_definition<double>();
}

TEST(RankingMetrics, are_the_definition_in_single) {
  expect_metrics_by_definition<float>();
}

TEST(RankingMetrics, by_hand) {
  // One user; items 0 to 3 are known by other users' ratings and predicted in this order.
  RatingModel<double> model{0, {2, 1}, {4, 1}, {}, {}};
  model.users(0, 0) = 1;
  for (Index item = 0; item < 4; ++item) model.items(item, 0) = double(10 - item);
  SparseTensor<double> training({2, 4}), held_out({2, 4});
  for (Index item = 0; item < 4; ++item) training.append(std::vector<Index>{1, item}, 3.0);
  held_out.append(std::vector<Index>{0, 1}, 5.0);
  held_out.append(std::vector<Index>{0, 3}, 3.0);  // as good as the mean: relevant
  held_out.append(std::vector<Index>{0, 0}, 2.0);

  const auto m = measure_ranking(model, training, held_out, 2);

  EXPECT_EQ(m.threshold, 3);
  EXPECT_EQ(m.num_users, 1);
  EXPECT_DOUBLE_EQ(m.precision, 0.5);
  EXPECT_DOUBLE_EQ(m.recall, 0.5);
  EXPECT_DOUBLE_EQ(m.ndcg, (1 / std::log2(3.0)) / (1 + 1 / std::log2(3.0)));
}

TEST(RankingMetrics, a_perfect_order_is_one) {
  const test::RatingShape shape{30, 40, 4, 200};
  const auto model = random_rating_model<double>(shape, Biases::with, Entries::normal, 2);
  SparseTensor<double> training({30, 40}), held_out({30, 40});
  for (Index item = 0; item < 40; ++item) training.append(std::vector<Index>{item % 30, item}, 1.0);
  const auto rated = group_by_user(training);
  std::vector<Index> users(30), items(40);
  for (Index i = 0; i < 40; ++i) items[i] = i, users[i % 30] = i % 30;
  const auto top = top_items(model, gather_users(model, users, &rated), items, 5);
  for (const Index user : users)
    for (const auto& best : top[user]) held_out.append(std::vector<Index>{user, best.item}, 5.0);

  const auto m = measure_ranking(model, training, held_out, 5);

  EXPECT_EQ(m.num_users, 30);
  for (const double measure : {m.precision, m.recall, m.ndcg}) EXPECT_DOUBLE_EQ(measure, 1);
}

TEST(RankingMetrics, nothing_relevant_is_no_user_and_wrong_shapes_are_refused) {
  const test::RatingShape shape{3, 7, 2, 5};
  const auto model = random_rating_model<float>(shape, Biases::with, Entries::normal, 2);
  const auto training = random_ratings(shape, 1);
  EXPECT_EQ(measure_ranking(model, training, SparseTensor<double>({3, 7}), 5, 1.0),
            (RankingMetrics{5, 1.0, 0, 0, 0, 0}));
  EXPECT_THROW(measure_ranking(model, training, SparseTensor<double>({3, 8}), 5), Error);
  EXPECT_THROW(measure_ranking(model, training, training, 0), Error);
}

}  // namespace
}  // namespace polyad::kernels
