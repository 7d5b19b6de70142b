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

std::vector<double> largest_magnitudes(const Matrix<double>& a) {
  std::vector<double> largest(a.num_cols(), 0.0);
  for (Index row = 0; row < a.num_rows(); ++row)
    for (Index r = 0; r < a.num_cols(); ++r) largest[r] = std::max(largest[r], std::abs(a(row, r)));
  return largest;
}

// Calls use(a), with columns scaled where their squares would leave the range of double.
template <class Use>
void with_moderate_columns(const Matrix<double>& a, Use use) {
  constexpr double maximum = 1e100;
  const auto largest = largest_magnitudes(a);
  if (std::ranges::all_of(largest, [](double x) { return x == 0 || (x < maximum && x > 1 / maximum); })) {
    use(a);
    return;
  }
  Matrix<double> scaled(a.num_rows(), a.num_cols());
  for (Index row = 0; row < a.num_rows(); ++row)
    for (Index r = 0; r < a.num_cols(); ++r) scaled(row, r) = largest[r] > 0 ? a(row, r) / largest[r] : 0;
  use(scaled);
}

Matrix<double> cosines(const Matrix<double>& a, const Matrix<double>& b) {
  auto result = cross_products(a, b);
  const auto left = column_norms(a), right = column_norms(b);
  for (Index i = 0; i < result.num_rows(); ++i)
    for (Index j = 0; j < result.num_cols(); ++j) {
      const double norms = left[i] * right[j];
      result(i, j) = norms > 0 ? result(i, j) / norms : 0;
    }
  return result;
}

}  // namespace

FactorMatcher::FactorMatcher(Index num_first, Index num_second) : congruences_(num_first, num_second) {
  std::ranges::fill(congruences_.flat(), 1.0);
}

void FactorMatcher::add_mode(const Matrix<double>& first, const Matrix<double>& second) {
  with_moderate_columns(first, [&](const Matrix<double>& a) {
    with_moderate_columns(second, [&](const Matrix<double>& b) { cosines_.push_back(cosines(a, b)); });
  });
  const auto added = cosines_.back().flat();
  for (std::size_t k = 0; k < added.size(); ++k) congruences_.flat()[k] *= std::abs(added[k]);
}

FactorMatch FactorMatcher::match() const {
  auto alike = congruences_;
  const Index rows = alike.num_rows(), cols = alike.num_cols();
  FactorMatch result;
  double sum = 0;
  for (Index pair = 0; pair < std::min(rows, cols); ++pair) {
    const auto flat = alike.flat();
    const Index best = std::ranges::max_element(flat) - flat.begin();
    MatchedComponents matched{best / cols, best % cols, flat[best], {}};
    for (const auto& mode : cosines_) matched.cosines.push_back(mode.flat()[best]);
    sum += matched.congruence;
    for (Index i = 0; i < rows; ++i) alike(i, matched.second) = -1;
    for (Index j = 0; j < cols; ++j) alike(matched.first, j) = -1;
    result.pairs.push_back(std::move(matched));
  }
  result.score = sum / double(std::max<Index>(1, std::min(rows, cols)));
  return result;
}

double factor_match_score(const Kruskal<double>& a, const Kruskal<double>& b) {
  FactorMatcher matcher(a.num_components(), b.num_components());
  for (int m = 0; m < a.order(); ++m) matcher.add_mode(a.factors[m], b.factors[m]);
  return matcher.match().score;
}

}  // namespace polyad::kernels
