#pragma once

#include <span>
#include <vector>

#include "polyad/algo/ratings/row_folder.hpp"
#include "polyad/tensor/ratings/rating_model.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// The ratings of an item that a model has learned nothing about, by ascending user.
struct RatingsOfItem {
  Index item = 0;
  std::vector<Index> users;
  std::vector<double> ratings;
};

// Gives the items rows and biases in a model of this many items, of which those behind its own are new: what
// the training would find with the users fixed. In a model of implicit feedback the bias of an item is its
// popularity, as that of the others. `ratings`: of the training.
template <class Real>
void add_items(RatingModel<Real>& model, Index num_items, std::span<const RatingsOfItem> items,
               const SparseTensor<double>& ratings, const Shrinkage& shrinkage,
               const FoldParameters& parameters);

// All ratings of a user, by ascending item.
struct RatingsOfUser {
  Index user = 0;
  std::vector<Index> items;
  std::vector<double> ratings;
};

// Gives the users, each once, the rows and biases in a model of this many users that the training would find
// with the items fixed; zeros to a user without ratings. `ratings`: of the training.
template <class Real>
void update_users(RatingModel<Real>& model, Index num_users, std::span<const RatingsOfUser> users,
                  const SparseTensor<double>& ratings, const Shrinkage& shrinkage,
                  const FoldParameters& parameters);

// The training ratings with those of the users in place of what they had, sorted.
SparseTensor<double> with_ratings_of(const SparseTensor<double>& ratings, Index num_users,
                                     std::span<const RatingsOfUser> users);

// The training ratings with those of the items, sorted.
SparseTensor<double> with_ratings_of(const SparseTensor<double>& ratings, Index num_items,
                                     std::span<const RatingsOfItem> items);

}  // namespace polyad
