#include "polyad/kernels/ratings/ranking_metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
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

using Score = std::function<double(Index user, Index item)>;

// The share of pairs in order, pair by pair.
double naive_auc(const std::vector<Index>& items, const std::set<Index>& relevant, Index user,
                 const Score& score) {
  double in_order = 0, pairs = 0;
  for (const Index a : items)
    for (const Index b : items)
      if (relevant.contains(a) && !relevant.contains(b)) {
        pairs += 1;
        in_order += score(user, a) > score(user, b) ? 1 : score(user, a) == score(user, b) ? 0.5 : 0;
      }
  return pairs > 0 ? in_order / pairs : 0.5;
}

// The definition, user by user, by sorting all items.
std::pair<Index, ListMeasures> naive_lists(Index num_users, const Score& score,
                                           const SparseTensor<double>& training,
                                           const SparseTensor<double>& held_out, Index k, double threshold) {
  ListMeasures m;
  double count = 0;
  std::set<Index> recommended;
  const std::set<Index> known(training.indices(1).begin(), training.indices(1).end());
  for (Index user = 0; user < num_users; ++user) {
    const auto rated = items_of(training, user, -1e9);
    auto relevant = items_of(held_out, user, threshold);
    std::erase_if(relevant, [&](Index item) { return rated.contains(item); });
    if (relevant.empty()) continue;
    std::vector<Index> order;
    for (const Index item : known)
      if (!rated.contains(item)) order.push_back(item);
    std::ranges::stable_sort(order, std::ranges::greater(), [&](Index item) { return score(user, item); });
    double hits = 0, gain = 0, ideal = 0, precisions = 0;
    for (Index place = 1; place <= k; ++place) {
      if (place <= std::ssize(relevant)) ideal += 1 / std::log2(place + 1.0);
      if (place > std::ssize(order)) continue;
      recommended.insert(order[place - 1]);
      if (!relevant.contains(order[place - 1])) continue;
      if (hits == 0) m.mrr += 1 / double(place);
      hits += 1;
      gain += 1 / std::log2(place + 1.0);
      precisions += hits / double(place);
    }
    count += 1;
    m.precision += hits / double(k);
    m.recall += hits / double(relevant.size());
    m.ndcg += gain / ideal;
    m.map += precisions / double(std::min(k, std::ssize(relevant)));
    m.hit_rate += hits > 0 ? 1 : 0;
    m.auc += naive_auc(order, relevant, user, score);
  }
  if (count == 0) return {0, {}};
  for (double* sum : {&m.precision, &m.recall, &m.ndcg, &m.map, &m.mrr, &m.hit_rate, &m.auc}) *sum /= count;
  m.coverage = double(recommended.size()) / double(known.size());
  return {Index(count), m};
}

void expect_near(const ListMeasures& found, const ListMeasures& expected) {
  EXPECT_NEAR(found.precision, expected.precision, 1e-12);
  EXPECT_NEAR(found.recall, expected.recall, 1e-12);
  EXPECT_NEAR(found.ndcg, expected.ndcg, 1e-12);
  EXPECT_NEAR(found.map, expected.map, 1e-12);
  EXPECT_NEAR(found.mrr, expected.mrr, 1e-12);
  EXPECT_NEAR(found.hit_rate, expected.hit_rate, 1e-12);
  EXPECT_NEAR(found.auc, expected.auc, 1e-12);
  EXPECT_NEAR(found.coverage, expected.coverage, 1e-12);
}

template <class Real>
void expect_metrics_by_definition(const test::RatingShape& shape, Index k, double threshold,
                                  std::uint64_t seed) {
  const auto model = random_rating_model<Real>(shape, Biases::with, Entries::whole, seed);
  const auto training = random_ratings(shape, seed), held_out = random_ratings(shape, seed + 1000);

  const auto found = measure_ranking(model, training, held_out, k, threshold);

  const Score predicted = [&](Index user, Index item) { return ref::predicted_rating(model, user, item); };
  const Score popular = [&](Index, Index item) {
    return double(std::ranges::count(training.indices(1), item));
  };
  EXPECT_EQ(found.k, k);
  EXPECT_EQ(found.threshold, threshold);
  const auto terms = terms_of_model(model);
  EXPECT_EQ(measure_ndcg<Real>(model, training, held_out, k, threshold, {&terms, 1}, nullptr),
            std::vector{found.model.ndcg});
  for (const auto& [score, measured] : {std::pair(predicted, found.model), {popular, found.popularity}}) {
    const auto [num_users, expected] = naive_lists(shape.users, score, training, held_out, k, threshold);
    EXPECT_EQ(found.num_users, num_users);
    expect_near(measured, expected);
  }
}

// Few users have more relevant items than the last of these shapes gives them.
template <class Real>
void expect_metrics_by_definition() {
  std::uint64_t seed = 0;
  for (auto shape : test::rating_shapes())
    for (const Index k : {1, 3, 10})
      for (const double threshold : {-1.0, 2.5, 4.0, 9.0})
        expect_metrics_by_definition<Real>(shape, k, threshold, ++seed);
  expect_metrics_by_definition<Real>({2, 500, 3, 900}, 10, 0, ++seed);
}

TEST(RankingMetrics, are_the_definition_in_double) {
  expect_metrics_by_definition<double>();
}

TEST(RankingMetrics, are_the_definition_in_single) {
  expect_metrics_by_definition<float>();
}

// Of several terms at once, each is what a model with these terms has by itself.
template <class Real>
void expect_each_of_several_terms() {
  constexpr std::array weights{0.0, 0.5, 2.0, 0.1};  // of neighbours
  std::uint64_t seed = 0;
  for (const auto& shape : test::rating_shapes()) {
    auto model = random_rating_model<Real>(shape, Biases::with, Entries::normal, ++seed);
    const auto training = random_ratings(shape, seed), held_out = random_ratings(shape, seed + 1000);
    const auto neighbours = find_neighbours(group_by_user(training), shape.items);
    std::vector biases(weights.size(), model.item_biases);
    std::vector<ScoreTerms<Real>> terms;
    for (std::size_t t = 0; t < weights.size(); ++t) {
      for (auto& bias : biases[t]) bias *= Real(t);
      terms.push_back({biases[t], weights[t]});
    }
    const auto found = measure_ndcg<Real>(model, training, held_out, 3, 2.5, terms, &neighbours);
    ASSERT_EQ(found.size(), weights.size());
    for (std::size_t t = 0; t < weights.size(); ++t) {
      model.item_biases = biases[t];
      model.neighbours = weights[t];
      EXPECT_EQ(found[t], measure_ranking(model, training, held_out, 3, 2.5).model.ndcg);
    }
  }
}

TEST(RankingMetrics, of_several_terms_at_once_are_those_of_each) {
  expect_each_of_several_terms<double>();
  expect_each_of_several_terms<float>();
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
  EXPECT_DOUBLE_EQ(m.model.precision, 0.5);
  EXPECT_DOUBLE_EQ(m.model.recall, 0.5);
  EXPECT_DOUBLE_EQ(m.model.ndcg, (1 / std::log2(3.0)) / (1 + 1 / std::log2(3.0)));
  EXPECT_DOUBLE_EQ(m.model.map, 0.25);
  EXPECT_DOUBLE_EQ(m.model.mrr, 0.5);
  EXPECT_DOUBLE_EQ(m.model.hit_rate, 1);
  EXPECT_DOUBLE_EQ(m.model.auc, 0.25);      // of four pairs, item 1 is above item 2 only
  EXPECT_DOUBLE_EQ(m.model.coverage, 0.5);  // items 0 and 1
  EXPECT_DOUBLE_EQ(m.popularity.auc, 0.5);  // all have one rating
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
  const auto& lists = m.model;
  for (const double measure :
       {lists.precision, lists.recall, lists.ndcg, lists.map, lists.mrr, lists.hit_rate, lists.auc})
    EXPECT_DOUBLE_EQ(measure, 1);
}

TEST(RankingMetrics, equal_ratings_are_all_relevant_by_default) {
  for (const double rating : {0.1, 3.0, 1e-9, -0.7}) {
    SparseTensor<double> training({10, 10}), held_out({10, 10});
    for (Index i = 0; i < 97; ++i) training.append(std::vector<Index>{i / 10, i % 10}, rating);
    for (Index i = 97; i < 100; ++i) held_out.append(std::vector<Index>{i / 10, i % 10}, rating);
    const auto model = random_rating_model<double>({10, 10, 2, 1}, Biases::with, Entries::normal, 1);

    const auto m = measure_ranking(model, training, held_out, 3);

    EXPECT_EQ(m.threshold, rating);
    EXPECT_EQ(m.num_users, 1);
    EXPECT_DOUBLE_EQ(m.model.recall, 1);
  }
}

TEST(RankingMetrics, nothing_relevant_is_no_user_and_wrong_shapes_are_refused) {
  const test::RatingShape shape{3, 7, 2, 5};
  const auto model = random_rating_model<float>(shape, Biases::with, Entries::normal, 2);
  const auto training = random_ratings(shape, 1);
  EXPECT_EQ(measure_ranking(model, training, SparseTensor<double>({3, 7}), 5, 1.0),
            (RankingMetrics{5, 1.0, 0, {}, {}}));
  const auto [least, largest] = std::ranges::minmax(training.values());
  const auto learned = measure_ranking(model, training, training, 5, least);
  EXPECT_EQ(learned.num_users, 0);
  EXPECT_EQ(learned.num_learned, training.num_nonzeros());
  EXPECT_EQ(measure_ranking(model, training, training, 5, largest + 1).num_learned, 0);
  EXPECT_THROW(measure_ranking(model, training, SparseTensor<double>({3, 8}), 5), Error);
  EXPECT_THROW(measure_ranking(model, training, training, 0), Error);
}

}  // namespace
}  // namespace polyad::kernels
