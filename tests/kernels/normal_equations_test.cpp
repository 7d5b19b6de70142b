#include "polyad/kernels/cp/normal_equations.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "tests/support/factor_problem.hpp"

// OpenBLAS has it; other implementations need not. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" [[gnu::weak]] int openblas_get_num_threads();

namespace polyad::kernels {
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

// Least squares |x - a K^T|^2 whose last two columns of K differ by about `difference`.
struct NearlySingular {
  NearlySingular(Index n, double difference, std::uint64_t seed)
      : k(test::random_matrix<double>(2 * n, n, seed)), x(test::random_matrix<double>(1, 2 * n, seed + 1)) {
    const auto other = test::random_matrix<double>(2 * n, 1, seed + 2);
    for (Index i = 0; i < 2 * n; ++i) k(i, n - 1) = k(i, 0) + difference * other(i, 0);
    Matrix<double> transposed(n, 2 * n);
    for (Index i = 0; i < 2 * n; ++i)
      for (Index j = 0; j < n; ++j) transposed(j, i) = k(i, j);
    v = times(transposed, k);
    m = times(x, k);
  }

  // In a higher precision: a may be large, and its terms cancel.
  long double squared_residual(const Matrix<double>& a) const {
    long double sum = 0;
    for (Index i = 0; i < k.num_rows(); ++i) {
      long double rest = x(0, i);
      for (Index j = 0; j < k.num_cols(); ++j) rest -= static_cast<long double>(a(0, j)) * k(i, j);
      sum += rest * rest;
    }
    return sum;
  }
  // What rounding the entries of a changes in it, about: they are large where the columns are almost the
  // same.
  double rounding(const Matrix<double>& a) const {
    double largest = 1;
    for (const double entry : a.flat()) largest = std::max(largest, std::abs(entry));
    return 4 * std::numeric_limits<double>::epsilon() * largest * std::sqrt(1 + double(squared_residual(a)));
  }
  Matrix<double> solve(const NormalInverse& inverse, const Matrix<double>& start) const {
    if (inverse.is_direct) return times(m, inverse.inverse);
    auto rest = m, a = start;
    const auto modelled = times(start, v);
    for (Index j = 0; j < m.num_cols(); ++j) rest(0, j) -= modelled(0, j);
    const auto step = times(rest, inverse.inverse);
    for (Index j = 0; j < m.num_cols(); ++j) a(0, j) += step(0, j);
    return a;
  }

  Matrix<double> k, x, v, m;
};

TEST(NormalInverse, never_makes_a_solution_worse_however_singular_the_matrix_is) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  bool is_direct_somewhere = false, is_corrected_somewhere = false;
  for (const Index n : {2, 3, 8, 37})
    for (int digits = 0; digits <= 18; ++digits) {
      const NearlySingular p(n, std::pow(10, -digits), std::uint64_t(100 * n + digits));
      auto a = test::random_matrix<double>(1, n, 7);
      const auto inverse = invert_normal_matrix(p.v, epsilon);

      for (int round = 0; round < 4; ++round) {
        const auto better = p.solve(inverse, a);
        const auto before = double(p.squared_residual(a)), after = double(p.squared_residual(better));
        ASSERT_LE(after, before + p.rounding(better)) << n << ", " << digits;
        a = better;
      }

      (inverse.is_direct ? is_direct_somewhere : is_corrected_somewhere) = true;
      if (digits >= 1 && digits <= 6) {  // the square of the difference is the smallest eigenvalue, about
        EXPECT_GT(inverse.condition, std::pow(10, 2 * digits - 2)) << n << ", " << digits;
        EXPECT_LT(inverse.condition, 1e4 * double(n * n) * std::pow(10, 2 * digits)) << n << ", " << digits;
      }
    }
  EXPECT_TRUE(is_direct_somewhere && is_corrected_somewhere);
}

// The library of LAPACK has one number of threads for the whole program, by which it rounds.
TEST(NormalInverse, is_the_same_to_the_last_bit_where_several_threads_want_one) {
  const int before = openblas_get_num_threads != nullptr ? openblas_get_num_threads() : 1;
  for (const Index n : {6, 16, 100}) {
    const auto regular = semidefinite(n, 2 * n, 1), singular = semidefinite(n, n / 2, 2);
    const auto direct = pseudo_inverse(regular), by_eigenvalues = pseudo_inverse(singular);
    std::atomic<int> differences = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 100; ++i)
          differences +=
              t % 2 == 0 ? pseudo_inverse(regular) != direct : pseudo_inverse(singular) != by_eigenvalues;
      });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(differences, 0) << n;
  }
  EXPECT_EQ(openblas_get_num_threads != nullptr ? openblas_get_num_threads() : 1, before);
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
}  // namespace polyad::kernels
