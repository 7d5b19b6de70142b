#include "polyad/kernels/ratings/fold_in.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "polyad/kernels/cp/normal_equations.hpp"

namespace polyad::kernels {
namespace {

// What is known of an item: its factors, and 1 for the user's bias where there is one.
template <class Real>
void copy_features(const RatingModel<Real>& model, Index item, std::span<double> features) {
  std::ranges::copy(model.items.row(item), features.begin());
  if (model.has_biases()) features.back() = 1;
}

// (X'X + ridge) (w, b) = X'y. In the units of the ratings the loss is, but for a constant factor, the sum
// of e^2 + s scale |w|^2 + t b^2.
struct NormalEquations {
  Matrix<double> left;
  std::vector<double> right;
};

// Of implicit feedback: every item counts once, and a rated one as often as its rating says.
template <class Real>
NormalEquations implicit_equations(const RatingModel<Real>& model, const RatingsToFold& known) {
  const Index factors = model.num_factors();
  NormalEquations system{*known.gram, std::vector<double>(std::size_t(factors), 0.0)};
  for (std::size_t z = 0; z < known.items.size(); ++z) {
    const auto features = model.items.row(known.items[z]);
    const double more = known.alpha * std::abs(known.ratings[z]);
    for (Index i = 0; i < factors; ++i) {
      if (known.ratings[z] > 0) system.right[i] += (1 + more) * double(features[i]);
      for (Index j = 0; j < factors; ++j)
        system.left(i, j) += more * double(features[i]) * double(features[j]);
    }
  }
  const double ridge = known.shrinkage.per_rating * double(known.items.size()) + known.shrinkage.per_row;
  for (Index i = 0; i < factors; ++i) system.left(i, i) += ridge;
  return system;
}

template <class Real>
NormalEquations normal_equations(const RatingModel<Real>& model, const RatingsToFold& known) {
  const Index factors = model.num_factors(), unknowns = factors + (model.has_biases() ? 1 : 0);
  NormalEquations system{{unknowns, unknowns}, std::vector<double>(std::size_t(unknowns), 0.0)};
  std::vector<double> features(std::size_t(unknowns), 0.0);
  for (std::size_t z = 0; z < known.items.size(); ++z) {
    copy_features(model, known.items[z], std::span(features));
    double rest = known.ratings[z] - model.mean;
    if (!model.item_biases.empty()) rest -= double(model.item_biases[known.items[z]]);
    for (Index i = 0; i < unknowns; ++i) {
      system.right[i] += rest * features[i];
      for (Index j = 0; j < unknowns; ++j) system.left(i, j) += features[i] * features[j];
    }
  }
  const auto count = std::max(std::ssize(known.items), std::ptrdiff_t(1));
  const double of_factors = known.shrinkage.of_factors(count), of_bias = known.shrinkage.of_bias(count);
  for (Index i = 0; i < unknowns; ++i)
    system.left(i, i) += double(count) * (i < factors ? of_factors * known.scale : of_bias);
  return system;
}

}  // namespace

template <class Real>
FoldedUser<Real> fold_in_user(const RatingModel<Real>& model, const RatingsToFold& known) {
  const auto [left, right] =
      known.gram != nullptr ? implicit_equations(model, known) : normal_equations(model, known);
  const auto inverse = pseudo_inverse(left);
  const Index factors = model.num_factors();
  FoldedUser<Real> user{Array<Real>(std::size_t(factors)), 0};
  for (Index i = 0; i < left.num_rows(); ++i) {
    double sum = 0;
    for (Index j = 0; j < left.num_rows(); ++j) sum += inverse(i, j) * right[j];
    if (i < factors)
      user.row[i] = Real(sum);
    else
      user.bias = sum;
  }
  return user;
}

double rating_scale(std::span<const double> ratings, double mean) {
  constexpr double negligible = 1e-12;  // of equal ratings rounding may leave a deviation
  double squares = 0;
  for (const double rating : ratings) squares += (rating - mean) * (rating - mean);
  const double deviation = ratings.empty() ? 0 : std::sqrt(squares / double(ratings.size()));
  return std::isfinite(deviation) && deviation > negligible * std::max(1.0, std::abs(mean)) ? deviation : 1;
}

template FoldedUser<float> fold_in_user(const RatingModel<float>&, const RatingsToFold&);
template FoldedUser<double> fold_in_user(const RatingModel<double>&, const RatingsToFold&);

}  // namespace polyad::kernels
