#include "polyad/algo/analysis/context_ranking.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

namespace polyad {
namespace {

struct Example {
  Kruskal<double> model;
  SplitCells split;
};

Example random_example(const std::vector<Index>& extents, Index rank, Index num_cells, unsigned seed) {
  std::mt19937 draw(seed);
  std::normal_distribution<double> normal;
  Example example;
  example.model.weights.assign(std::size_t(rank), 1.5);
  for (const Index extent : extents) {
    auto& factor = example.model.factors.emplace_back(extent, rank);
    for (double& entry : factor.flat()) entry = normal(draw);
  }
  std::set<std::vector<Index>> places;
  for (Index z = 0; z < num_cells; ++z) {
    std::vector<Index> place;
    for (const Index extent : extents) place.push_back(Index(draw() % unsigned(extent)));
    places.insert(place);
  }
  example.split.cells = SparseTensor<double>(extents);
  for (const auto& place : places) {
    example.split.cells.append(place, draw() % 5 == 0 ? -1 : 2);
    example.split.marks.push_back(draw() % 3 == 0 ? -1 : 1);
  }
  return example;
}

double value_at(const Kruskal<double>& model, const std::vector<Index>& place) {
  double sum = 0;
  for (Index r = 0; r < model.num_components(); ++r) {
    double product = model.weights[std::size_t(r)];
    for (std::size_t m = 0; m < place.size(); ++m) product *= model.factors[m](place[m], r);
    sum += product;
  }
  return sum;
}

// The mean NDCG of lists of k items, by the definition; and of how many.
std::pair<double, Index> naive_ndcg(const Example& example, int item_mode, Index k) {
  const auto& cells = example.split.cells;
  std::set<Index> learned;                                                             // items
  std::map<std::vector<Index>, std::pair<std::set<Index>, std::set<Index>>> contexts;  // learned, held out
  for (Index z = 0; z < cells.num_nonzeros(); ++z) {
    std::vector<Index> context;
    for (int m = 0; m < cells.order(); ++m) context.push_back(m == item_mode ? 0 : cells.indices(m)[z]);
    const Index item = cells.indices(item_mode)[z];
    auto& [seen, wanted] = contexts[context];
    if (example.split.marks[z] > 0) {
      seen.insert(item);
      learned.insert(item);
    } else if (cells.values()[z] > 0) {
      wanted.insert(item);
    }
  }
  double sum = 0;
  Index count = 0;
  for (const auto& [context, items] : contexts) {
    const auto& [seen, wanted] = items;
    if (wanted.empty()) continue;
    std::vector<std::pair<double, Index>> scores;
    for (const Index item : learned) {
      auto place = context;
      place[std::size_t(item_mode)] = item;
      if (!seen.contains(item)) scores.emplace_back(-value_at(example.model, place), item);
    }
    std::ranges::sort(scores);
    double gain = 0, ideal = 0;
    for (Index i = 0; i < std::min(k, std::ssize(scores)); ++i)
      if (wanted.contains(scores[std::size_t(i)].second)) gain += 1 / std::log2(double(i + 2));
    for (Index i = 0; i < std::min(k, std::ssize(wanted)); ++i) ideal += 1 / std::log2(double(i + 2));
    sum += gain / ideal;
    ++count;
  }
  return {count == 0 ? 0 : sum / double(count), count};
}

TEST(ContextRanking, is_that_of_lists_for_every_combination_of_the_other_places) {
  const std::vector<std::vector<Index>> shapes{{6, 9}, {5, 12, 3}, {4, 7, 2, 3}, {3, 1, 4, 2, 5}};
  for (const auto& extents : shapes)
    for (int item_mode = 0; item_mode < std::ssize(extents); ++item_mode)
      for (unsigned seed = 0; seed < 5; ++seed) {
        const auto example = random_example(extents, seed == 0 ? 1 : 4, 60, seed);
        const auto found = rank_in_context(example.model, example.split, item_mode, 3);
        const auto [ndcg, count] = naive_ndcg(example, item_mode, 3);
        EXPECT_EQ(found.num_users, count);
        EXPECT_NEAR(found.model.ndcg, ndcg, 1e-12);
      }
}

TEST(ContextRanking, chooses_some_of_many_combinations) {
  const auto example = random_example({20, 10, 6}, 3, 600, 1);
  const auto all = rank_in_context(example.model, example.split, 1, 5);
  ASSERT_GT(all.num_users, 60);
  EXPECT_EQ(rank_in_context(example.model, example.split, 1, 5, all.num_users), all);
  const auto some = rank_in_context(example.model, example.split, 1, 5, 50);
  EXPECT_EQ(some.num_users, 50);
  EXPECT_EQ(rank_in_context(example.model, example.split, 1, 5, 50), some);
}

TEST(ContextRanking, of_nothing_is_nothing) {
  auto example = random_example({4, 5, 3}, 2, 30, 1);
  std::ranges::fill(example.split.marks, 1.0);
  EXPECT_EQ(rank_in_context(example.model, example.split, 1, 5).num_users, 0);
}

}  // namespace
}  // namespace polyad
