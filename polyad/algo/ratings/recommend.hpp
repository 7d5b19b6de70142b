#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "polyad/algo/ratings/row_folder.hpp"
#include "polyad/kernels/ratings/top_items.hpp"
#include "polyad/tensor/ratings/rating_side.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// Recommendations of a model. Items without training ratings are never
// recommended, because the model has learned nothing about them.
template <class Real>
class Recommender {
 public:
  enum class Rated { left_out, included };  // items that the user has rated

  // `ratings`: of the training, users x items as in the model.
  Recommender(const RatingModel<Real>& model, const SparseTensor<double>& ratings,
              const FoldParameters& parameters = {});
  // [mode][row]: whether the model has learned anything about the user or item.
  using Learned = std::array<std::vector<bool>, 2>;
  // A model that was not trained on these ratings, which are what is known of some users: here an item that
  // the model has learned about counts as rated by someone, and such a user as one with ratings.
  Recommender(const RatingModel<Real>& model, const SparseTensor<double>& ratings, const Learned& learned);

  Index num_rated_items() const { return Index(rated_items_.size()); }  // by any user
  Index num_rated_by(Index user) const { return std::ssize(rated_.items_of(user)); }
  const RatingsByUser& ratings() const { return rated_; }
  // Whether the model has learned anything about this user or item.
  bool has_learned(RatingSide side, Index row) const { return learned_[mode_of(side)][row]; }
  std::vector<Index> users_with_ratings() const;
  // Items with ratings by any user, ascending.
  std::span<const Index> rated_items() const { return rated_items_; }

  // What may be recommended, and what of it is wanted.
  struct Wanted {
    std::span<const Index> candidates;  // ascending, a part of rated_items()
    Index count = 10;                   // of items in each list
    Rated rated = Rated::left_out;
  };

  // The best items of each user.
  std::vector<ScoredItems> recommend(std::span<const Index> users, const Wanted& wanted) const;
  // Number of users to pass at once, so that the result has moderate size.
  static Index batch_size(Index count);

  // A user who is not in the model, given ratings with ascending items.
  struct NewUser {
    std::span<const Index> items;
    std::span<const double> ratings;
  };
  // `shrinkage`: that of the training.
  std::vector<ScoredItems> recommend_to(std::span<const NewUser> users, const Shrinkage& shrinkage,
                                        const Wanted& wanted) const;

  // The candidates, users or items, that are most similar to this one; kernels::similar_rows says how.
  SimilarRows similar(RatingSide side, Index row, std::span<const Index> candidates, double support,
                      Index count) const;

 private:
  // Null where the model has no weight for them. Not by several threads at once.
  const kernels::ItemNeighbours* neighbours() const;

  const RatingModel<Real>& model_;
  RatingsByUser rated_;
  Array<Index> rated_items_;     // ascending
  Array<Index> num_ratings_[2];  // [mode][row]
  Learned learned_;
  RowFolder<Real> folder_;
  mutable std::optional<kernels::ItemNeighbours> neighbours_;  // from the first list on
};

}  // namespace polyad
