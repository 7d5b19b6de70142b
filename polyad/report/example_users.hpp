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

// A user to show: some of what the training knew, and what the model makes of it.
struct ExampleUser {
  std::string name;
  Index num_rated = 0;
  std::vector<NamedRating> liked, recommended;  // by falling rating
};

// The users with most ratings in the training; among equals the first. `labels`: of users and of items; what
// has none is numbered from 1. Fewer where fewer have any rating.
template <class Real>
std::vector<ExampleUser> example_users(const RatingModel<Real>& model, const SparseTensor<double>& train,
                                       std::span<const ModeLabels> labels);

}  // namespace polyad::report
