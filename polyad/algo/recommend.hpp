#pragma once

#include <span>
#include <vector>

#include "polyad/kernels/ratings/fold_in.hpp"
#include "polyad/kernels/ratings/top_items.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// Recommendations of a model. Items without training ratings are never
// recommended, because the model has learned nothing about them.
template <class Real>
class Recommender {
 public:
  enum class Rated { left_out, included };  // items that the user has rated

  // `ratings`: of the training, users x items as in the model.
  Recommender(const RatingModel<Real>& model, const SparseTensor<double>& ratings);

  Index num_rated_items() const { return Index(candidates_.size()); }  // by any user
  Index num_rated_by(Index user) const { return std::ssize(rated_.items_of(user)); }
  const RatingsByUser& ratings() const { return rated_; }
  bool is_rated(Index item) const;  // by any user
  std::vector<Index> users_with_ratings() const;

  // The best `count` items of each user.
  std::vector<ScoredItems> recommend(std::span<const Index> users, Index count, Rated rated) const;
  // Number of users to pass at once, so that the result has moderate size.
  static Index batch_size(Index count);

  // For a user who is not in the model, given ratings with ascending items.
  struct NewUser {
    std::span<const Index> items;
    std::span<const double> ratings;
    Shrinkage shrinkage;  // that of the training
  };
  ScoredItems recommend_to(const NewUser& user, Index count, Rated rated) const;
  // The items most similar to this one.
  ScoredItems similar(Index item, Index count) const;

 private:
  const RatingModel<Real>& model_;
  RatingsByUser rated_;
  Array<Index> candidates_;  // ascending
  double scale_;             // of the ratings in training
};

}  // namespace polyad
