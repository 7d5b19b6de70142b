#include "polyad/kernels/factor.hpp"

#include <cmath>

#include "polyad/base/parallel.hpp"
#include "polyad/base/random.hpp"

namespace polyad {

template <class Real>
void fill_with_start(Matrix<Real>& factor, std::uint64_t seed, int mode, std::span<const Index> global_rows) {
  parallel_for(factor.num_rows(), [&](Index row) {
    for (Index r = 0; r < factor.num_cols(); ++r)
      factor(row, r) =
          Real(Random(seed, std::uint64_t(mode) << 32 | std::uint64_t(r)).normal(global_rows[row]));
  });
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
  std::vector<double> largest(factor.num_cols(), 0.0);
  for (Index row = 0; row < factor.num_rows(); ++row)
    for (Index r = 0; r < factor.num_cols(); ++r)
      if (std::abs(factor(row, r)) > std::abs(largest[r])) largest[r] = factor(row, r);
  return largest;
}

#define POLYAD_INSTANTIATE(Real)                                                            \
  template void fill_with_start(Matrix<Real>&, std::uint64_t, int, std::span<const Index>); \
  template void divide_columns(Matrix<Real>&, std::span<const double>);                     \
  template void reorder_components(Kruskal<Real>&, std::span<const Index>);                 \
  template std::vector<double> largest_entries(const Matrix<Real>&);
POLYAD_INSTANTIATE(float)
POLYAD_INSTANTIATE(double)

}  // namespace polyad
