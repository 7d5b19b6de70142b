#include "polyad/kernels/cp/factor.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "polyad/base/parallel.hpp"
#include "polyad/base/random.hpp"

namespace polyad::kernels {

Index padded_components(Index num_components) {
  for (const Index width : {8, 16, 24, 32, 48, 64})
    if (num_components <= width) return width;
  return (num_components + 15) / 16 * 16;
}

// Two columns share a block of random bits.
std::pair<double, double> RandomStart::values(int mode, Index global_row, Index column_pair) const {
  const Random random(seed, std::uint64_t(mode) << 32 | std::uint64_t(column_pair));
  if (!is_uniform) return random.normals(std::uint64_t(global_row));
  const auto bits = random.bits(std::uint64_t(global_row));
  return {unit_interval(bits[0]), unit_interval(bits[1])};
}

double RandomStart::value(int mode, Index global_row, Index column) const {
  const auto pair = values(mode, global_row, column / 2);
  return column % 2 == 0 ? pair.first : pair.second;
}

template <class Real>
void fill_with_start(Matrix<Real>& factor, Index num_components, const RandomStart& start, int mode,
                     std::span<const Index> global_rows) {
  parallel_for(factor.num_rows(), [&](Index row) {
    for (Index r = 0; r < num_components; r += 2) {
      const auto pair = start.values(mode, global_rows[row], r / 2);
      factor(row, r) = Real(pair.first);
      if (r + 1 < num_components) factor(row, r + 1) = Real(pair.second);
    }
  });
}

template <class Real>
void fill_with_columns(Matrix<Real>& factor, const Matrix<Real>& columns) {
  assert(factor.num_rows() >= columns.num_rows() && factor.num_cols() >= columns.num_cols());
  parallel_for(columns.num_rows(),
               [&](Index row) { std::ranges::copy(columns.row(row), factor.row(row).begin()); });
}

template <class Real>
void make_nonnegative(Matrix<Real>& factor) {
  parallel_for(factor.num_rows(), [&](Index row) {
    for (Real& x : factor.row(row)) x = std::abs(x);
  });
}

template <class Real>
void keep_components(Kruskal<Real>& model, Index num_components) {
  model.weights.resize(std::size_t(num_components));
  for (auto& factor : model.factors) {
    if (factor.num_cols() == num_components) continue;
    Matrix<Real> kept(factor.num_rows(), num_components);
    parallel_for(factor.num_rows(), [&](Index row) {
      std::ranges::copy(factor.row(row).first(std::size_t(num_components)), kept.row(row).begin());
    });
    factor = std::move(kept);
  }
}

template <class Real>
Kruskal<double> in_double(const Kruskal<Real>& model) {
  Kruskal<double> result{model.weights, {}};
  for (const auto& factor : model.factors) {
    result.factors.emplace_back(factor.num_rows(), factor.num_cols());
    std::ranges::copy(factor.flat(), result.factors.back().flat().begin());
  }
  return result;
}

template <class Real>
void divide_columns(Matrix<Real>& factor, std::span<const double> divisors) {
  std::vector<Real> inverse;
  for (const double divisor : divisors) inverse.push_back(divisor != 0 ? Real(1 / divisor) : Real{});
  parallel_for(factor.num_rows(), [&](Index row) {
    for (Index r = 0; r < factor.num_cols(); ++r) factor(row, r) *= inverse[r];
  });
}

template <class Real>
void reorder_components(Kruskal<Real>& model, std::span<const Index> order) {
  const auto weights = model.weights;
  for (std::size_t r = 0; r < order.size(); ++r) model.weights[r] = weights[order[r]];
  for (auto& factor : model.factors)
    parallel_parts(factor.num_rows(), [&](Index begin, Index end, int) {
      std::vector<Real> old(order.size());
      for (Index row = begin; row < end; ++row) {
        std::ranges::copy(factor.row(row), old.begin());
        for (std::size_t r = 0; r < order.size(); ++r) factor(row, Index(r)) = old[order[r]];
      }
    });
}

template <class Real>
std::vector<double> largest_entries(const Matrix<Real>& factor) {
  const auto take_larger = [](double& largest, double x) {
    if (std::abs(x) > std::abs(largest) || (x > 0 && x == -largest)) largest = x;
  };
  const Index n = factor.num_cols();
  std::vector<std::vector<double>> partial(num_threads(), std::vector<double>(std::size_t(n), 0.0));
  parallel_parts(factor.num_rows(), [&](Index begin, Index end, int thread) {
    for (Index row = begin; row < end; ++row)
      for (Index r = 0; r < n; ++r) take_larger(partial[thread][r], factor(row, r));
  });
  auto result = partial.front();
  for (const auto& part : partial)
    for (Index r = 0; r < n; ++r) take_larger(result[r], part[r]);
  return result;
}

template <class Real>
Matrix<Real> first_rows(Matrix<Real> factor, Index num_rows) {
  if (num_rows == factor.num_rows()) return factor;
  Matrix<Real> result(num_rows, factor.num_cols());
  std::ranges::copy(factor.flat().first(result.flat().size()), result.flat().begin());
  return result;
}

template void fill_with_start(Matrix<float>&, Index, const RandomStart&, int, std::span<const Index>);
template void fill_with_columns(Matrix<float>&, const Matrix<float>&);
template void make_nonnegative(Matrix<float>&);
template void keep_components(Kruskal<float>&, Index);
template Kruskal<double> in_double(const Kruskal<float>&);
template void divide_columns(Matrix<float>&, std::span<const double>);
template void reorder_components(Kruskal<float>&, std::span<const Index>);
template std::vector<double> largest_entries(const Matrix<float>&);
template Matrix<float> first_rows(Matrix<float>, Index);

template void fill_with_start(Matrix<double>&, Index, const RandomStart&, int, std::span<const Index>);
template void fill_with_columns(Matrix<double>&, const Matrix<double>&);
template void make_nonnegative(Matrix<double>&);
template void keep_components(Kruskal<double>&, Index);
template Kruskal<double> in_double(const Kruskal<double>&);
template void divide_columns(Matrix<double>&, std::span<const double>);
template void reorder_components(Kruskal<double>&, std::span<const Index>);
template std::vector<double> largest_entries(const Matrix<double>&);
template Matrix<double> first_rows(Matrix<double>, Index);

}  // namespace polyad::kernels
