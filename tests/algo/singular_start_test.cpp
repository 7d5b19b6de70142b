#include "polyad/algo/cp/singular_start.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "polyad/algo/cp/singular_vectors.hpp"
#include "polyad/tensor/sort.hpp"
#include "tests/support/distributed_cases.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/gathered_rows.hpp"
#include "tests/support/generated.hpp"
#include "tests/support/shares.hpp"

namespace polyad {
namespace {

using Dense = std::vector<std::vector<double>>;

// X X^T of the unfolded tensor, from the definition. A row per index of the mode.
Dense dense_gram(const SparseTensor<double>& x, int mode) {
  std::map<std::vector<Index>, std::map<Index, double>> columns;
  for (Index z = 0; z < x.num_nonzeros(); ++z) {
    std::vector<Index> others;
    for (int m = 0; m < x.order(); ++m)
      if (m != mode) others.push_back(x.indices(m)[z]);
    columns[others][x.indices(mode)[z]] += x.values()[z];
  }
  const auto n = std::size_t(x.extent(mode));
  Dense gram(n, std::vector<double>(n));
  for (const auto& [others, column] : columns)
    for (const auto& [i, left] : column)
      for (const auto& [j, right] : column) gram[std::size_t(i)][std::size_t(j)] += left * right;
  return gram;
}

// Of the entries beside the diagonal.
double squares_off_diagonal(const Dense& a) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j) sum += i == j ? 0 : a[i][j] * a[i][j];
  return sum;
}

// Descending, by Jacobi's rotations.
std::vector<double> eigenvalues(Dense a) {
  const std::size_t n = a.size();
  const double start = squares_off_diagonal(a);
  for (int sweep = 0; sweep < 60 && squares_off_diagonal(a) > 1e-30 * start; ++sweep)
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        if (a[p][q] == 0) continue;
        const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::hypot(theta, 1.0));
        const double c = 1 / std::hypot(t, 1.0), s = t * c;
        for (std::size_t k = 0; k < n; ++k) {
          const double left = a[k][p], right = a[k][q];
          a[k][p] = c * left - s * right;
          a[k][q] = s * left + c * right;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double left = a[p][k], right = a[q][k];
          a[p][k] = c * left - s * right;
          a[q][k] = s * left + c * right;
        }
      }
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(a[i][i]);
  std::ranges::sort(values, std::greater());
  return values;
}

// All rows on every process; a row without nonzeros is zero. Collective.
Dense columns_of(const Comm& comm, const SingularVectors& found, Index extent) {
  const auto rows = comm.all_gather_varying<Index>(std::span<const Index>(found.rows));
  const auto values = comm.all_gather_varying<double>(found.vectors.flat());
  const std::size_t n = found.values.size();
  Dense columns(n, std::vector<double>(std::size_t(extent)));
  for (std::size_t i = 0; i < rows.items.size(); ++i)
    for (std::size_t r = 0; r < n; ++r) columns[r][std::size_t(rows.items[i])] = values.items[i * n + r];
  return columns;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void expect_eigenvectors(const Dense& gram, const Dense& vectors, const std::vector<double>& values) {
  const auto expected = eigenvalues(gram);
  for (std::size_t r = 0; r < vectors.size(); ++r) {
    EXPECT_NEAR(values[r] * values[r], expected[r], 1e-9 * expected[0]) << r;
    for (std::size_t k = 0; k <= r; ++k) EXPECT_NEAR(dot(vectors[r], vectors[k]), k == r ? 1 : 0, 1e-9);
    for (std::size_t i = 0; i < gram.size(); ++i)
      EXPECT_NEAR(dot(gram[i], vectors[r]), expected[r] * vectors[r][i], 1e-6 * expected[0]);
    const auto [low, high] = std::ranges::minmax(vectors[r]);
    EXPECT_GE(high, -low * (1 - 1e-5)) << "the largest entry is positive";
  }
}

struct VectorCase {
  std::vector<Index> extents;
  Index num_nonzeros, max_vectors;
};

std::vector<VectorCase> vector_cases() {
  return {{{1, 1}, 1, 3},
          {{3, 5}, 8, 2},
          {{40, 50}, 600, 4},
          {{60, 5}, 200, 3},
          {{1, 7, 2}, 9, 2},
          {{50, 40, 30}, 2000, 6},
          {{80, 3, 2}, 90, 5},
          {{45, 6, 5, 4}, 700, 3},
          {{20, 1, 30, 4}, 5, 9},
          {{2, 3, 4, 5, 6}, 300, 4},
          {{35, 2, 3, 2, 33}, 500, 2}};
}

TEST(SingularVectors, are_those_of_the_dense_matrix) {
  const Comm comm = Comm::world();
  std::uint64_t seed = 0;
  for (const auto& c : vector_cases())
    for (int round = 0; round < 3; ++round) {
      const auto whole = test::tame_tensor(c.extents, c.num_nonzeros, ++seed);
      const test::Threads threads(1 + int(seed % 3));
      for (int mode = 0; mode < whole.order(); ++mode) {
        SCOPED_TRACE("case " + std::to_string(seed) + ", mode " + std::to_string(mode));
        const auto found = leading_singular_vectors(
            comm, test::share_of(whole, comm), mode,
            {.max_vectors = c.max_vectors, .tolerance = 1e-8, .max_products = 3000, .seed = seed});
        const auto gram = dense_gram(whole, mode);
        const auto expected = eigenvalues(gram);
        const auto rank = std::ranges::count_if(expected, [&](double t) { return t > 1e-11 * expected[0]; });
        EXPECT_EQ(std::ssize(found.values), std::min<Index>(c.max_vectors, rank));
        expect_eigenvectors(gram, columns_of(comm, found, whole.extent(mode)), found.values);
      }
    }
}

TEST(SingularVectors, of_repeated_and_of_missing_singular_values_are_found) {
  const Comm comm = Comm::world();
  for (const Index n : {5, 30}) {  // the identity, and twice the identity beside an empty row
    SparseTensor<double> x({n + 1, n});
    for (Index i = 0; i < n; ++i) x.append(std::vector{i, i}, i < n / 2 ? 2.0 : 1.0);
    const auto found =
        leading_singular_vectors(comm, test::share_of(x, comm), 0, {.max_vectors = n, .seed = 3});
    ASSERT_EQ(std::ssize(found.values), n);
    expect_eigenvectors(dense_gram(x, 0), columns_of(comm, found, n + 1), found.values);
  }
  SparseTensor<double> one({30, 20});  // of rank one
  for (Index i = 0; i < 30; ++i)
    for (Index j = 0; j < 20; ++j) one.append(std::vector{i, j}, double((i + 1) * (j + 2)));
  EXPECT_EQ(leading_singular_vectors(comm, test::share_of(one, comm), 1, {.max_vectors = 4}).values.size(),
            1);
  const SparseTensor<double> nothing({4, 4});
  EXPECT_EQ(leading_singular_vectors(comm, nothing, 0, {.max_vectors = 2}).values.size(), 0);
  SparseTensor<double> zero({4, 4});
  if (comm.rank() == 0) zero.append(std::vector<Index>{1, 1}, 0.0);
  EXPECT_EQ(leading_singular_vectors(comm, zero, 0, {.max_vectors = 2}).values.size(), 0);
}

// Of the whole tensor, on the root.
Kruskal<double> start_of(const Comm& comm, const SparseTensor<double>& share, const CpRunOptions& options,
                         const Distribution& distribution) {
  Progress silent;
  const auto x = prepare<double>(comm, share, options, silent, distribution);
  auto start = singular_start<double>(x.tensor, x.chosen.plan, options);
  if (!start) return {};
  const auto all = test::gather_rows(x.tensor, std::move(*start));
  return comm.rank() == 0 ? test::with_all_rows(all, share.extents()) : Kruskal<double>{};
}

TEST(SingularStart, does_not_depend_on_the_processes_nor_on_the_format) {
  const Comm comm = Comm::world();
  int n = comm.size();
  for (const auto& c : test::distributed_cases())
    for (int round = 0; round < 8; ++round, ++n) {
      SCOPED_TRACE("case " + std::to_string(n));
      const auto whole = test::tame_tensor(c.extents, c.num_nonzeros, std::uint64_t(n), c.heavy);
      const auto share = test::share_of(whole, comm);
      auto options = test::ten_iterations(c, n);
      options.als.start = Start::svd;
      options.mode_order = natural_mode_order(whole.order());
      if (n % 4 == 1) options.method = Method::opt;
      const Distributor distributor(comm, share, comm.size(), std::uint64_t(n));
      const auto start = start_of(comm, share, options, test::some_distribution(distributor, comm.size(), n));

      if (comm.rank() != 0) continue;
      options.format = test::format_of(n + 1);
      const auto alone = start_of(Comm::self(), whole, options, {});
      ASSERT_EQ(start.num_components(), alone.num_components());
      for (int m = 0; m < whole.order(); ++m) {
        const auto a = start.factors[m].flat(), b = alone.factors[m].flat();
        for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-6) << m << ' ' << i;
      }
      const bool is_zero = std::ranges::all_of(start.factors[0].flat(), [](double x) { return x == 0; });
      EXPECT_EQ(is_zero, options.method == Method::als);
    }
}

TEST(SingularStart, has_random_columns_where_there_are_too_few_singular_vectors) {
  const auto whole = test::tame_tensor({30, 2, 20}, 300, 5);
  auto options = test::options_for(6, 10, 0, 3);
  options.als.start = Start::svd;
  options.mode_order = {0, 1, 2};
  const auto first = start_of(Comm::self(), whole, options, {});
  options.als.seed = 4;
  const auto second = start_of(Comm::self(), whole, options, {});
  for (Index r = 0; r < 6; ++r) {
    const auto length = std::hypot(first.factors[1](0, r), first.factors[1](1, r));
    EXPECT_NEAR(length, 1, 1e-12);
    const double change = std::abs(first.factors[1](0, r) - second.factors[1](0, r));
    if (r < 2)
      EXPECT_LT(change, 1e-9) << r;
    else
      EXPECT_GT(change, 1e-9) << r;
  }
}

}  // namespace
}  // namespace polyad
