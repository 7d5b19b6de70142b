#include "polyad/kernels/cp/unfolding.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "polyad/base/parallel.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad::kernels {
namespace {

// The column with the first nonzero at or after this one.
Index column_from(const Unfolding& x, Index nonzero) {
  return std::ranges::lower_bound(x.first, nonzero) - x.first.begin();
}

// For the columns [begin, end): y += x_c (x_c^T q), where x_c is a column.
void add_columns(const Unfolding& x, const Matrix<double>& q, Index begin, Index end, double* y) {
  const Index n = q.num_cols();
  std::vector<double> product(static_cast<std::size_t>(n));
  double* const t = product.data();
  for (Index column = begin; column < end; ++column) {
    std::fill_n(t, n, 0.0);
    for (Index z = x.first[column]; z < x.first[column + 1]; ++z) {
      const double* const row = q.row(Index(x.rows[z])).data();
      const double value = x.values[z];
      for (Index r = 0; r < n; ++r) t[r] += value * row[r];
    }
    for (Index z = x.first[column]; z < x.first[column + 1]; ++z) {
      double* const row = y + Index(x.rows[z]) * n;
      const double value = x.values[z];
      for (Index r = 0; r < n; ++r) row[r] += value * t[r];
    }
  }
}

}  // namespace

Unfolding unfold(SparseTensor<double, LocalIndex> x, int mode) {
  auto mode_order = natural_mode_order(x.order());
  std::rotate(mode_order.begin() + mode, mode_order.begin() + mode + 1, mode_order.end());
  sort_nonzeros(x, std::span<const int>(mode_order));
  const auto begins_column = [&](Index z) {
    for (int m = 0; m < x.order(); ++m)
      if (m != mode && x.indices(m)[z] != x.indices(m)[z - 1]) return true;
    return false;
  };
  Unfolding result;
  result.num_rows = x.extent(mode);
  for (Index z = 0; z < x.num_nonzeros(); ++z)
    if (z == 0 || begins_column(z)) result.first.push_back(z);
  result.first.push_back(x.num_nonzeros());
  auto arrays = std::move(x).take();
  result.rows = std::move(arrays.indices[mode]);
  result.values = std::move(arrays.values);
  return result;
}

void multiply_by_gram(const Unfolding& x, const Matrix<double>& q, PartialRows<double>& parts,
                      Matrix<double>& y) {
  parallel_parts(std::ssize(x.values), [&](Index begin, Index end, int thread) {
    add_columns(x, q, column_from(x, begin), column_from(x, end), parts.part(thread));
  });
  add_up(parts, y);
}

Matrix<double> column_products(const Matrix<double>& a, const Matrix<double>& b, Index num_rows) {
  const Index n = a.num_cols();
  std::vector<Matrix<double>> sums(num_threads(), Matrix<double>(n, n));
  parallel_parts(num_rows, [&](Index begin, Index end, int thread) {
    auto& sum = sums[thread];
    for (Index row = begin; row < end; ++row) {
      const auto right = b.row(row);
      for (Index i = 0; i < n; ++i) {
        const double left = a(row, i);
        const auto to = sum.row(i);
        for (Index j = 0; j < n; ++j) to[j] += left * right[j];
      }
    }
  });
  Matrix<double> total(n, n);
  for (const auto& sum : sums)
    for (Index k = 0; k < n * n; ++k) total.flat()[k] += sum.flat()[k];
  return total;
}

void multiply_columns(Matrix<double>& a, const Matrix<double>& square, Index num_rows) {
  const Index n = a.num_cols();
  parallel_parts(num_rows, [&](Index begin, Index end, int) {
    std::vector<double> before(static_cast<std::size_t>(n));
    for (Index row = begin; row < end; ++row) {
      const auto at = a.row(row);
      std::ranges::copy(at, before.begin());
      std::ranges::fill(at, 0.0);
      for (Index i = 0; i < n; ++i) {
        const auto from = square.row(i);
        for (Index j = 0; j < n; ++j) at[j] += before[i] * from[j];
      }
    }
  });
}

}  // namespace polyad::kernels
