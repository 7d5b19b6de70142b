#include "polyad/kernels/cp/factor_vectors.hpp"

#include <gtest/gtest.h>

#include "polyad/kernels/cp/gradient_rows.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/generated.hpp"

namespace polyad::kernels {
namespace {

const std::vector<std::vector<Index>> row_counts{{0, 1}, {1, 1, 1}, {5, 0, 700}, {3, 200, 1, 9}};

// Matrices with more rows than count: those behind must not matter.
template <class Real>
std::vector<Matrix<Real>> matrices(const std::vector<Index>& num_rows, Index num_cols, std::uint64_t seed) {
  std::vector<Matrix<Real>> result;
  for (std::size_t m = 0; m < num_rows.size(); ++m)
    result.push_back(test::random_matrix<Real>(num_rows[m] + 2, num_cols, seed + 50 * m));
  return result;
}

template <class Real>
double plain_product(const std::vector<Matrix<Real>>& a, const std::vector<Matrix<Real>>& b,
                     const std::vector<Index>& num_rows) {
  double sum = 0;
  for (std::size_t m = 0; m < a.size(); ++m)
    for (Index row = 0; row < num_rows[m]; ++row)
      for (Index r = 0; r < a[m].num_cols(); ++r) sum += double(a[m](row, r)) * double(b[m](row, r));
  return sum;
}

template <class Real>
void expect_products_as_defined(const std::vector<Index>& num_rows, Index num_cols) {
  std::vector<std::vector<Matrix<Real>>> all;
  std::vector<FactorVector<Real>> views;
  for (std::uint64_t k = 0; k < 4; ++k) all.push_back(matrices<Real>(num_rows, num_cols, 1000 * k));
  for (auto& one : all) views.push_back(first_rows_of<Real>(one, num_rows));
  const std::vector<FactorVector<Real>> left(views.begin(), views.begin() + 2);

  const auto products = inner_products(left, views);

  for (Index i = 0; i < 2; ++i)
    for (Index j = 0; j < 4; ++j) EXPECT_NEAR(products(i, j), plain_product(all[i], all[j], num_rows), 1e-8);
  EXPECT_EQ(products, inner_products(left, views));
}

TEST(FactorVectors, have_the_inner_products_of_their_first_rows) {
  for (const auto& num_rows : row_counts)
    for (const Index num_cols : {1, 8, 37})
      for (const int threads : {1, 3}) {
        const test::Threads set(threads);
        expect_products_as_defined<double>(num_rows, num_cols);
        expect_products_as_defined<float>(num_rows, num_cols);
      }
}

template <class Real>
void expect_combination_as_defined(const std::vector<Index>& num_rows, Index num_cols, double bound) {
  auto a = matrices<Real>(num_rows, num_cols, 1), b = matrices<Real>(num_rows, num_cols, 2),
       unused = matrices<Real>(num_rows, num_cols, 3);
  for (auto& matrix : unused) std::ranges::fill(matrix.flat(), std::numeric_limits<Real>::quiet_NaN());
  const auto old = a;
  const auto to = first_rows_of<Real>(a, num_rows);

  combine<Real>(
      {{2, to}, {-0.5, first_rows_of<Real>(b, num_rows)}, {0, first_rows_of<Real>(unused, num_rows)}}, to);

  for (std::size_t m = 0; m < a.size(); ++m)
    for (Index row = 0; row < a[m].num_rows(); ++row)
      for (Index r = 0; r < num_cols; ++r) {
        const double changed = 2 * double(old[m](row, r)) - 0.5 * double(b[m](row, r));
        EXPECT_NEAR(a[m](row, r), row < num_rows[m] ? changed : double(old[m](row, r)), bound);
      }
}

TEST(FactorVectors, combine_in_place) {
  for (const auto& num_rows : row_counts)
    for (const Index num_cols : {1, 8, 37})
      for (const int threads : {1, 3}) {
        const test::Threads set(threads);
        expect_combination_as_defined<double>(num_rows, num_cols, 1e-14);
        expect_combination_as_defined<float>(num_rows, num_cols, 1e-6);
      }
}

template <class Real>
void expect_gradient_as_defined(Index num_rows, Index n, double bound) {
  const auto factor = test::random_matrix<Real>(num_rows + 1, n, 1),
             mttkrp = test::random_matrix<Real>(num_rows + 1, n, 2);
  const auto v = test::random_matrix<double>(n, n, 3);
  auto m = mttkrp;

  const double inner = turn_into_gradient(m, factor, v, 0.25, {0, num_rows});

  double expected_inner = 0;
  for (Index row = 0; row <= num_rows; ++row)
    for (Index r = 0; r < n; ++r) {
      double expected = mttkrp(row, r);
      if (row < num_rows) {
        expected_inner += 0.25 * double(factor(row, r)) * double(mttkrp(row, r));
        expected *= -0.25;
        for (Index k = 0; k < n; ++k) expected += double(factor(row, k)) * v(k, r);
      }
      EXPECT_NEAR(m(row, r), expected, bound);
    }
  EXPECT_NEAR(inner, expected_inner, 1e-10);
}

TEST(GradientRows, are_as_defined) {
  for (const Index num_rows : {0, 1, 2, 61})
    for (const Index n : {1, 8, 37})
      for (const int threads : {1, 3}) {
        const test::Threads set(threads);
        expect_gradient_as_defined<double>(num_rows, n, 1e-12);
        expect_gradient_as_defined<float>(num_rows, n, 1e-5);
      }
}

}  // namespace
}  // namespace polyad::kernels
