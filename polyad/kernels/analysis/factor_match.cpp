#include "polyad/kernels/analysis/factor_match.hpp"

#include <algorithm>
#include <cmath>

#include "polyad/base/parallel.hpp"

namespace polyad::kernels {
namespace {

// a^T b, threads in a fixed order.
Matrix<double> cross_products(const Matrix<double>& a, const Matrix<double>& b) {
  std::vector<Matrix<double>> partial(num_threads(), Matrix<double>(a.num_cols(), b.num_cols()));
  parallel_parts(a.num_rows(), [&](Index begin, Index end, int thread) {
    for (Index row = begin; row < end; ++row)
      for (Index i = 0; i < a.num_cols(); ++i)
        for (Index j = 0; j < b.num_cols(); ++j) partial[thread](i, j) += a(row, i) * b(row, j);
  });
  for (std::size_t t = 1; t < partial.size(); ++t)
    for (std::size_t k = 0; k < partial[0].flat().size(); ++k) partial[0].flat()[k] += partial[t].flat()[k];
  return partial[0];
}

std::vector<double> column_norms(const Matrix<double>& a) {
  std::vector<double> norms(a.num_cols(), 0.0);
  for (Index row = 0; row < a.num_rows(); ++row)
    for (Index r = 0; r < a.num_cols(); ++r) norms[r] += a(row, r) * a(row, r);
  for (double& norm : norms) norm = std::sqrt(norm);
  return norms;
}

}  // namespace

double factor_match_score(const Kruskal<double>& a, const Kruskal<double>& b) {
  const Index rows = a.num_components(), cols = b.num_components();
  Matrix<double> alike(rows, cols);
  std::ranges::fill(alike.flat(), 1.0);
  for (int m = 0; m < a.order(); ++m) {
    const auto products = cross_products(a.factors[m], b.factors[m]);
    const auto left = column_norms(a.factors[m]), right = column_norms(b.factors[m]);
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols; ++j) {
        const double norms = left[i] * right[j];
        alike(i, j) *= norms > 0 ? std::abs(products(i, j)) / norms : 0;
      }
  }
  double sum = 0;
  for (Index pair = 0; pair < std::min(rows, cols); ++pair) {
    const auto flat = alike.flat();
    const Index best = std::ranges::max_element(flat) - flat.begin();
    sum += flat[best];
    for (Index i = 0; i < rows; ++i) alike(i, best % cols) = -1;
    for (Index j = 0; j < cols; ++j) alike(best / cols, j) = -1;
  }
  return sum / double(std::max<Index>(1, std::min(rows, cols)));
}

}  // namespace polyad::kernels
