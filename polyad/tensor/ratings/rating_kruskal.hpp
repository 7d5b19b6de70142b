#pragma once

#include "polyad/tensor/kruskal.hpp"
#include "polyad/tensor/ratings/rating_model.hpp"

namespace polyad {

// A model of ratings as a Kruskal tensor: a component per factor; then,
// for a model with biases or a mean, one with the biases of the users
// and one with the mean plus the biases of the items. All weights are 1.
template <class Real>
Kruskal<Real> kruskal_of(const RatingModel<Real>& model);

}  // namespace polyad
