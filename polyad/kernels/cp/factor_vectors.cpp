#include "polyad/kernels/cp/factor_vectors.hpp"

#include <algorithm>

#include "polyad/base/parallel.hpp"

namespace polyad::kernels {
namespace {

// Entries that are worked on together, so that those of some dozens of vectors stay in the cache.
constexpr Index chunk_rows = 512;

// fn(begin, end, thread) for every chunk of [0, n), by all threads.
template <class Fn>
void for_each_chunk(Index n, Fn fn) {
  parallel_parts(n, [&](Index begin, Index end, int thread) {
    for (Index at = begin; at < end; at += chunk_rows) fn(at, std::min(at + chunk_rows, end), thread);
  });
}

template <class Real>
double inner_product(const Real* a, const Real* b, Index n) {
  constexpr Index lanes = 8;  // independent sums, one per element of a vector register
  double sums[lanes] = {};
  Index i = 0;
  for (; i + lanes <= n; i += lanes)
    for (Index lane = 0; lane < lanes; ++lane) sums[lane] += double(a[i + lane]) * double(b[i + lane]);
  for (; i < n; ++i) sums[0] += double(a[i]) * double(b[i]);
  double sum = 0;
  for (const double lane : sums) sum += lane;
  return sum;
}

}  // namespace

template <class Real>
FactorVector<Real> first_rows_of(std::span<Matrix<Real>> matrices, std::span<const Index> num_rows) {
  FactorVector<Real> result;
  for (std::size_t m = 0; m < matrices.size(); ++m)
    result.push_back(matrices[m].flat().first(std::size_t(num_rows[m] * matrices[m].num_cols())));
  return result;
}

template <class Real>
Matrix<double> inner_products(const std::vector<FactorVector<Real>>& a,
                              const std::vector<FactorVector<Real>>& b) {
  const Index rows = std::ssize(a), cols = std::ssize(b);
  std::vector<Matrix<double>> partial(num_threads(), Matrix<double>(rows, cols));
  for (std::size_t m = 0; m < a.front().size(); ++m)
    for_each_chunk(std::ssize(a.front()[m]), [&](Index begin, Index end, int thread) {
      for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < cols; ++j)
          partial[thread](i, j) += inner_product(a[i][m].data() + begin, b[j][m].data() + begin, end - begin);
    });
  Matrix<double> total(rows, cols);
  for (const auto& part : partial)
    for (Index k = 0; k < rows * cols; ++k) total.flat()[k] += part.flat()[k];
  return total;
}

template <class Real>
void combine(const std::vector<ScaledVector<Real>>& terms, const FactorVector<Real>& result) {
  for (std::size_t m = 0; m < result.size(); ++m)
    for_each_chunk(std::ssize(result[m]), [&](Index begin, Index end, int) {
      double sums[chunk_rows] = {};
      for (const auto& [scale, vector] : terms) {
        if (scale == 0) continue;
        const Real* const from = vector[m].data() + begin;
        for (Index i = 0; i < end - begin; ++i) sums[i] += scale * double(from[i]);
      }
      for (Index i = begin; i < end; ++i) result[m][i] = Real(sums[i - begin]);
    });
}

template FactorVector<float> first_rows_of(std::span<Matrix<float>>, std::span<const Index>);
template Matrix<double> inner_products(const std::vector<FactorVector<float>>&,
                                       const std::vector<FactorVector<float>>&);
template void combine(const std::vector<ScaledVector<float>>&, const FactorVector<float>&);

template FactorVector<double> first_rows_of(std::span<Matrix<double>>, std::span<const Index>);
template Matrix<double> inner_products(const std::vector<FactorVector<double>>&,
                                       const std::vector<FactorVector<double>>&);
template void combine(const std::vector<ScaledVector<double>>&, const FactorVector<double>&);

}  // namespace polyad::kernels
