#pragma once

#include <span>
#include <string>
#include <vector>

#include "polyad/tensor/labels.hpp"
#include "polyad/tensor/ratings/rating_model.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad::report {

struct NamedRating {
  std::string item;
  double rating = 0;  // given, or predicted
};

// An example user: some training ratings, and the recommendations of the model.
struct ExampleUser {
  std::string name;
  Index num_rated = 0;
  std::vector<NamedRating> liked, recommended;  // by descending rating
};

// The users with the most training ratings; of equal ones the first. `labels`: of
// users and of items; those without are numbered from 1. Fewer if fewer have ratings.
template <class Real>
std::vector<ExampleUser> example_users(const RatingModel<Real>& model, const SparseTensor<double>& train,
                                       std::span<const ModeLabels> labels);

}  // namespace polyad::report
