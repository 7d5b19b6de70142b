#pragma once

#include <optional>
#include <span>

#include "polyad/kernels/ratings/fold_in.hpp"
#include "polyad/tensor/ratings/rating_power.hpp"

namespace polyad {

// How the training that made a model was parametrised.
struct FoldParameters {
  std::optional<double> alpha = {};  // of a model of implicit feedback (RatingTraining)
  double power = 1;                  // of ratings in it (ListModel)
};

// Computes rows of users who are not in a model, as the training would with the items fixed; of items, by a
// model with users and items exchanged.
template <class Real>
class RowFolder {
 public:
  // `ratings`: of the training. The model is kept by reference.
  RowFolder(const RatingModel<Real>& model, std::span<const double> ratings,
            const FoldParameters& parameters = {});

  // Ratings of one user, items ascending.
  kernels::FoldedUser<Real> fold(std::span<const Index> items, std::span<const double> ratings,
                                 const Shrinkage& shrinkage) const;

 private:
  const RatingModel<Real>& model_;
  double scale_;       // of the ratings in training
  RatingPower power_;  // of ratings in implicit feedback
  double alpha_ = 0;   // as in kernels::RatingsToFold, like the next
  std::optional<Matrix<double>> gram_;
};

}  // namespace polyad
