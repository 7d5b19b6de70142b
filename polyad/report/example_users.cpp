#include "polyad/report/example_users.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "polyad/algo/ratings/recommend.hpp"

namespace polyad::report {
namespace {

constexpr Index num_users = 3, num_items = 5;

std::string name_of(const ModeLabels& mode, const char* noun, Index index) {
  return index < std::ssize(mode.labels) ? mode.labels[index] : fmt::format("{} {}", noun, index + 1);
}

// The items that a user rated best; among equals the first.
ScoredItems best_rated(const RatingsByUser& ratings, Index user) {
  const auto items = ratings.items_of(user);
  const auto values = ratings.values_of(user);
  ScoredItems all;
  for (std::size_t i = 0; i < items.size(); ++i) all.push_back({items[i], values[i]});
  std::ranges::stable_sort(all, std::ranges::greater{}, &ScoredItem::score);
  all.resize(std::min(all.size(), std::size_t(num_items)));
  return all;
}

std::vector<NamedRating> named(const ScoredItems& items, const ModeLabels& labels) {
  std::vector<NamedRating> all;
  for (const auto& [item, score] : items) all.push_back({name_of(labels, "item", item), score});
  return all;
}

}  // namespace

template <class Real>
std::vector<ExampleUser> example_users(const RatingModel<Real>& model, const SparseTensor<double>& train,
                                       std::span<const ModeLabels> labels) {
  const Recommender<Real> recommender(model, train);
  auto users = recommender.users_with_ratings();
  std::ranges::stable_sort(users, std::ranges::greater{},
                           [&](Index user) { return recommender.num_rated_by(user); });
  users.resize(std::min(users.size(), std::size_t(num_users)));
  const auto lists = recommender.recommend(users, {recommender.rated_items(), num_items});
  std::vector<ExampleUser> examples;
  for (std::size_t i = 0; i < users.size(); ++i)
    examples.push_back({name_of(labels[0], "user", users[i]), recommender.num_rated_by(users[i]),
                        named(best_rated(recommender.ratings(), users[i]), labels[1]),
                        named(lists[i], labels[1])});
  return examples;
}

template std::vector<ExampleUser> example_users(const RatingModel<float>&, const SparseTensor<double>&,
                                                std::span<const ModeLabels>);
template std::vector<ExampleUser> example_users(const RatingModel<double>&, const SparseTensor<double>&,
                                                std::span<const ModeLabels>);

}  // namespace polyad::report
