#include "polyad/algo/ratings/row_folder.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "polyad/kernels/cp/row_update.hpp"

namespace polyad {
namespace {

// 0 where there are none.
double mean_magnitude(std::span<const double> ratings, const RatingPower& power) {
  double sum = 0;
  for (const double rating : ratings) sum += std::abs(power(rating));
  return ratings.empty() ? 0 : sum / double(ratings.size());
}

}  // namespace

template <class Real>
RowFolder<Real>::RowFolder(const RatingModel<Real>& model, std::span<const double> ratings,
                           const FoldParameters& parameters)
    : model_(model), scale_(kernels::rating_scale(ratings, model.mean)) {
  if (!parameters.alpha) return;
  const double mean = mean_magnitude(ratings, {});
  power_ = {parameters.power, mean > 0 ? mean : 1};
  const double unit = mean_magnitude(ratings, power_);
  alpha_ = unit > 0 ? *parameters.alpha / unit : 0;
  gram_ = kernels::gram(model.items, model.num_items());
}

template <class Real>
kernels::FoldedUser<Real> RowFolder<Real>::fold(std::span<const Index> items, std::span<const double> ratings,
                                                const Shrinkage& shrinkage) const {
  std::vector<double> powers(ratings.size());
  std::ranges::transform(ratings, powers.begin(), power_);
  return kernels::fold_in_user<Real>(model_,
                                     {items, powers, shrinkage, scale_, alpha_, gram_ ? &*gram_ : nullptr});
}

template class RowFolder<float>;
template class RowFolder<double>;

}  // namespace polyad
