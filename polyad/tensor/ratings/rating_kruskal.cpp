#include "polyad/tensor/ratings/rating_kruskal.hpp"

#include <algorithm>

namespace polyad {
namespace {

// Rows of factors, with space for two more components.
template <class Real>
Matrix<Real> widened(const Matrix<Real>& rows, Index more) {
  Matrix<Real> wide(rows.num_rows(), rows.num_cols() + more);
  for (Index i = 0; i < rows.num_rows(); ++i) std::ranges::copy(rows.row(i), wide.row(i).begin());
  return wide;
}

template <class Real>
Real bias_of(const Array<Real>& biases, Index row) {
  return biases.empty() ? Real(0) : biases[row];
}

}  // namespace

template <class Real>
Kruskal<Real> kruskal_of(const RatingModel<Real>& model) {
  const Index factors = model.num_factors(), more = model.has_biases() || model.mean != 0 ? 2 : 0;
  Kruskal<Real> k{std::vector<double>(std::size_t(factors + more), 1.0),
                  {widened(model.users, more), widened(model.items, more)}};
  if (more == 0) return k;
  for (Index i = 0; i < model.num_users(); ++i) {
    k.factors[0](i, factors) = bias_of(model.user_biases, i);
    k.factors[0](i, factors + 1) = 1;
  }
  for (Index i = 0; i < model.num_items(); ++i) {
    k.factors[1](i, factors) = 1;
    k.factors[1](i, factors + 1) = Real(model.mean + double(bias_of(model.item_biases, i)));
  }
  return k;
}

template Kruskal<float> kruskal_of(const RatingModel<float>&);
template Kruskal<double> kruskal_of(const RatingModel<double>&);

}  // namespace polyad
