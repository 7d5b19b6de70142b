#include "polyad/kernels/normal_equations.hpp"

#include <gtest/gtest.h>

#include "tests/support/factor_problem.hpp"

namespace polyad {
namespace {

Matrix<double> times(const Matrix<double>& a, const Matrix<double>& b) {
  Matrix<double> c(a.num_rows(), b.num_cols());
  for (Index i = 0; i < a.num_rows(); ++i)
    for (Index k = 0; k < a.num_cols(); ++k)
      for (Index j = 0; j < b.num_cols(); ++j) c(i, j) += a(i, k) * b(k, j);
  return c;
}

// B^T B, of rank at most `rows`.
Matrix<double> semidefinite(Index n, Index rows, std::uint64_t seed) {
  const auto b = test::random_matrix<double>(rows, n, seed);
  Matrix<double> transposed(n, rows);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < n; ++j) transposed(j, i) = b(i, j);
  return times(transposed, b);
}

TEST(PseudoInverse, satisfies_the_conditions_of_penrose_for_any_rank) {
  for (const Index n : {1, 2, 5, 16, 37})
    for (const Index rank : {Index(1), (n + 1) / 2, n, 2 * n}) {
      const auto v = semidefinite(n, rank, std::uint64_t(100 * n + rank));

      const auto inverse = pseudo_inverse(v);

      EXPECT_LT(test::relative_difference(times(times(v, inverse), v), v), 1e-8) << n << " of rank " << rank;
      EXPECT_LT(test::relative_difference(times(times(inverse, v), inverse), inverse), 1e-6);
    }
}

TEST(PseudoInverse, leaves_dead_components_zero) {
  auto v = semidefinite(4, 8, 1);
  for (Index i = 0; i < 4; ++i) v(2, i) = v(i, 2) = 0;

  const auto inverse = pseudo_inverse(v);

  for (Index i = 0; i < 4; ++i) EXPECT_EQ(inverse(2, i), 0);
  EXPECT_LT(test::relative_difference(times(times(v, inverse), v), v), 1e-12);
  EXPECT_EQ(pseudo_inverse(Matrix<double>(3, 3)), Matrix<double>(3, 3));
}

TEST(PseudoInverse, does_not_mind_components_of_very_different_size) {
  auto v = semidefinite(3, 9, 2);
  const double size[] = {1e-120, 1, 1e100};
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 3; ++j) v(i, j) *= size[i] * size[j];

  const auto identity = times(v, pseudo_inverse(v));

  for (Index i = 0; i < 3; ++i) EXPECT_NEAR(identity(i, i), 1, 1e-12);
}

TEST(HadamardExcept, leaves_one_mode_out) {
  std::vector<Matrix<double>> grams;
  for (const double x : {2.0, 3.0, 5.0}) {
    grams.emplace_back(1, 1);
    grams.back()(0, 0) = x;
  }

  EXPECT_EQ(hadamard_except(grams, 1)(0, 0), 10);
  EXPECT_EQ(hadamard_except(grams, -1)(0, 0), 30);
}

}  // namespace
}  // namespace polyad
