#include "polyad/algo/cp/finish_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "polyad/kernels/cp/factor.hpp"

namespace polyad {
namespace {

// [mode][component]: the norms of the columns. Where one is zero, or too small to divide by, the component is
// zero in all modes.
template <class Real>
std::vector<std::vector<double>> column_norms(std::span<const Matrix<double>> grams) {
  std::vector<std::vector<double>> norms(grams.size());
  for (Index r = 0; r < grams.front().num_rows(); ++r) {
    double minimum = std::numeric_limits<double>::max();
    for (std::size_t m = 0; m < grams.size(); ++m) {
      norms[m].push_back(std::sqrt(grams[m](r, r)));
      minimum = std::min(minimum, norms[m].back());
    }
    if (minimum >= double(std::numeric_limits<Real>::min())) continue;
    for (auto& of_mode : norms) of_mode.back() = 0;
  }
  return norms;
}

// [component]: -1 where the largest entry of a column is negative. Equal ones count as positive.
template <class Real>
std::vector<double> column_signs(const Comm& comm, const Matrix<Real>& factor) {
  auto up = kernels::largest_entries(factor), down = up;
  for (double& peak : down) peak = -peak;
  comm.all_reduce(std::span(up), Reduce::max);
  comm.all_reduce(std::span(down), Reduce::max);
  std::vector<double> signs;
  for (std::size_t r = 0; r < up.size(); ++r) signs.push_back(down[r] > up[r] ? -1.0 : 1.0);
  return signs;
}

std::vector<Index> by_descending(const std::vector<double>& weights) {
  std::vector<Index> order(weights.size());
  std::iota(order.begin(), order.end(), Index(0));
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](Index r) { return weights[r]; });
  return order;
}

}  // namespace

template <class Real>
Kruskal<Real> finish_model(const DistTensor<Real>& x, std::vector<Matrix<Real>> factors,
                           std::span<const Matrix<double>> grams, const ModelForm& form) {
  auto norms = column_norms<Real>(grams);
  Kruskal<Real> model{std::vector<double>(norms.front().size(), form.unit), {}};
  for (int m = 0; m < x.order(); ++m)
    model.factors.push_back(kernels::first_rows(std::move(factors[m]), x.num_owned(m)));
  // Signs in pairs: every mode but one points upwards, and that takes the sign of the product.
  int carrier = 0;
  while (carrier + 1 < model.order() && !form.nonnegative.empty() && form.nonnegative[carrier]) ++carrier;
  for (int m = 0; m < model.order(); ++m) {
    std::ranges::transform(model.weights, norms[m], model.weights.begin(), std::multiplies{});
    if (m != carrier) {
      const auto signs = column_signs(x.comm(), model.factors[m]);
      kernels::divide_columns(model.factors[carrier], signs);
      std::ranges::transform(norms[m], signs, norms[m].begin(), std::multiplies{});
    }
    kernels::divide_columns(model.factors[m], norms[m]);
  }
  kernels::reorder_components(model, by_descending(model.weights));
  kernels::keep_components(model, form.num_components);  // padding has weight zero and comes last
  return model;
}

template Kruskal<float> finish_model(const DistTensor<float>&, std::vector<Matrix<float>>,
                                     std::span<const Matrix<double>>, const ModelForm&);
template Kruskal<double> finish_model(const DistTensor<double>&, std::vector<Matrix<double>>,
                                      std::span<const Matrix<double>>, const ModelForm&);

}  // namespace polyad
