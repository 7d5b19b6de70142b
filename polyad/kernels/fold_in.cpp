#include "polyad/kernels/fold_in.hpp"

#include <algorithm>

#include "polyad/kernels/normal_equations.hpp"

namespace polyad {
namespace {

// What is known of an item: its factors, and 1 for the user's bias where there is one.
template <class Real>
void copy_features(const RatingModel<Real>& model, Index item, std::span<double> features) {
  std::ranges::copy(model.items.row(item), features.begin());
  if (model.has_biases()) features.back() = 1;
}

}  // namespace

template <class Real>
FoldedUser<Real> fold_in_user(const RatingModel<Real>& model, std::span<const Index> items,
                              std::span<const double> ratings, double regularisation) {
  const Index factors = model.num_factors(), unknowns = factors + (model.has_biases() ? 1 : 0);
  // (X'X + regularisation n I) (w, b) = X'y
  Matrix<double> normal(unknowns, unknowns);
  std::vector<double> features(std::size_t(unknowns), 0.0), right(features);
  for (std::size_t z = 0; z < items.size(); ++z) {
    copy_features(model, items[z], std::span(features));
    double rest = ratings[z] - model.mean;
    if (!model.item_biases.empty()) rest -= double(model.item_biases[items[z]]);
    for (Index i = 0; i < unknowns; ++i) {
      right[i] += rest * features[i];
      for (Index j = 0; j < unknowns; ++j) normal(i, j) += features[i] * features[j];
    }
  }
  for (Index i = 0; i < unknowns; ++i) normal(i, i) += regularisation * double(items.size());
  const auto inverse = pseudo_inverse(normal);
  FoldedUser<Real> user{Array<Real>(std::size_t(factors)), 0};
  for (Index i = 0; i < unknowns; ++i) {
    double sum = 0;
    for (Index j = 0; j < unknowns; ++j) sum += inverse(i, j) * right[j];
    if (i < factors)
      user.row[i] = Real(sum);
    else
      user.bias = sum;
  }
  return user;
}

template FoldedUser<float> fold_in_user(const RatingModel<float>&, std::span<const Index>,
                                        std::span<const double>, double);
template FoldedUser<double> fold_in_user(const RatingModel<double>&, std::span<const Index>,
                                         std::span<const double>, double);

}  // namespace polyad
