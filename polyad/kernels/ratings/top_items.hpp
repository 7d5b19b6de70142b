#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/matrix.hpp"
#include "polyad/kernels/ratings/item_neighbours.hpp"
#include "polyad/tensor/ratings/rating_model.hpp"
#include "polyad/tensor/ratings/ratings_by_user.hpp"
#include "polyad/tensor/ratings/scored_item.hpp"

namespace polyad::kernels {

// Users whose best items are computed; they need not be users of the model.
template <class Real>
struct UserRows {
  Matrix<Real> rows;                             // a row of factors per user
  Array<double> offsets;                         // constant part of the predictions of a user: mean and bias
  std::vector<std::span<const Index>> excluded;  // [user]: items to exclude, ascending; empty: none at all
  // Items similar to those that a user chose gain by it; null: the model has no weight for them.
  const ItemNeighbours* neighbours = nullptr;
  std::vector<KnownItems> known = {};  // [user], where there are neighbours
};

// What scores have beside the products of factors.
template <class Real>
struct ScoreTerms {
  std::span<const Real> item_biases;  // [item]; empty: zeros
  double neighbours = 0;              // their weight
};

template <class Real>
ScoreTerms<Real> terms_of_model(const RatingModel<Real>& model) {
  return {model.item_biases, model.neighbours};
}

// What neighbours add to scores is kept for several users at a time: at most so many numbers on a thread.
constexpr Index max_neighbour_terms(Index num_items) {
  return std::max(Index(1) << 20, num_items);
}

// The neighbours of items, where the model has a weight for them; else nothing.
template <class Real>
std::optional<ItemNeighbours> neighbours_for(const RatingModel<Real>& model, const RatingsByUser& rated) {
  if (model.neighbours == 0) return std::nullopt;
  return find_neighbours(rated, model.num_items(), model.confidence);
}

// The rows of users of a model; excludes the items in `rated`, unless it is null.
template <class Real>
UserRows<Real> gather_users(const RatingModel<Real>& model, std::span<const Index> users,
                            const RatingsByUser* rated);

// Makes the neighbours of what these users rated count in their lists. Both are kept by reference.
template <class Real>
void add_neighbours(UserRows<Real>& rows, const ItemNeighbours& neighbours, std::span<const Index> users,
                    const RatingsByUser& rated) {
  rows.neighbours = &neighbours;
  for (const Index user : users) rows.known.push_back({rated.items_of(user), rated.values_of(user)});
}

// For every user the `count` candidates with the highest predicted rating, or fewer if there
// are not so many. Candidates ascend. A prediction depends only on the rows of the user and
// the item, not on threads or on the other users and items. Memory beyond the result: a block
// of items per thread. Throws Error{bad_input} if a prediction exceeds the range of Real.
template <class Real>
std::vector<ScoredItems> top_items(const RatingModel<Real>& model, const UserRows<Real>& users,
                                   std::span<const Index> candidates, Index count);

// The list of a user, and how some items, the targets, are placed among all candidates.
struct UserRanking {
  ScoredItems best;
  // The share of pairs of a target and another candidate, neither of them excluded, in which the target has
  // the higher score; equal scores count a half. 0.5 where there is no pair.
  double pairs_in_order = 0.5;
};
// As top_items, with each of `terms` in place of those of the model: [terms][user]. [user] of `targets` has
// items in ascending order, none of which is excluded. Those that are no candidates form no pairs; without
// any targets, no pairs are counted.
template <class Real>
std::vector<std::vector<UserRanking>> rank_items(const RatingModel<Real>& model, const UserRows<Real>& users,
                                                 std::span<const Index> candidates, Index count,
                                                 std::span<const std::span<const Index>> targets,
                                                 std::span<const ScoreTerms<Real>> terms);

// The candidates most similar to a row of `factors`, without the row itself and rows of zeros. None if the
// row is zero. The similarity is the cosine of the angle between the rows times n / (n + support), where n is
// the number of ratings of the candidate ([row] of num_ratings): few ratings determine a direction poorly.
// Without support it is the cosine.
template <class Real>
SimilarRows similar_rows(const Matrix<Real>& factors, Index row, std::span<const Index> candidates,
                         std::span<const Index> num_ratings, double support, Index count);

namespace ref {
// The predicted rating, directly by the definition.
template <class Real>
double predicted_rating(const RatingModel<Real>& model, Index user, Index item);
}  // namespace ref

}  // namespace polyad::kernels
