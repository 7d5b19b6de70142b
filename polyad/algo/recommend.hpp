#pragma once

#include <span>
#include <vector>

#include "polyad/kernels/ratings/fold_in.hpp"
#include "polyad/kernels/ratings/top_items.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// What a recommender's model recommends. Items that have no rating in the training are never recommended: the
// model knows nothing of them.
template <class Real>
class Recommender {
 public:
  enum class Rated { left_out, included };  // what becomes of items that the user rated

  // `ratings`: those of the training, users x items as the model has them.
  Recommender(const RatingModel<Real>& model, const SparseTensor<double>& ratings);

  Index num_rated_items() const { return Index(candidates_.size()); }  // by any user
  Index num_rated_by(Index user) const { return std::ssize(rated_.items_of(user)); }
  const RatingsByUser& ratings() const { return rated_; }
  bool is_rated(Index item) const;  // by any user
  std::vector<Index> users_with_ratings() const;

  // The best `count` items of each user.
  std::vector<ScoredItems> recommend(std::span<const Index> users, Index count, Rated rated) const;
  // How many users to ask for at once, so that the answer stays small.
  static Index batch_size(Index count);

  // For a user that the model has not seen, by a list of ratings whose items ascend.
  struct NewUser {
    std::span<const Index> items;
    std::span<const double> ratings;
    Shrinkage shrinkage;  // that of the training
  };
  ScoredItems recommend_to(const NewUser& user, Index count, Rated rated) const;
  // The items most like this one.
  ScoredItems similar(Index item, Index count) const;

 private:
  const RatingModel<Real>& model_;
  RatingsByUser rated_;
  Array<Index> candidates_;  // ascending
  double scale_;             // of the ratings in training
};

}  // namespace polyad
