#include "polyad/kernels/cp/csf_sweep.hpp"

#include <gtest/gtest.h>

#include "polyad/kernels/block.hpp"
#include "polyad/kernels/cp/mttkrp.hpp"
#include "polyad/kernels/cp/normal_equations.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/generated.hpp"

namespace polyad::kernels {
namespace {

using test::FactorProblem;
using test::relative_difference;

// a * b, in double.
template <class A>
Matrix<double> product(const Matrix<A>& a, const Matrix<double>& b) {
  Matrix<double> c(a.num_rows(), b.num_cols());
  for (Index i = 0; i < a.num_rows(); ++i)
    for (Index k = 0; k < a.num_cols(); ++k)
      for (Index j = 0; j < b.num_cols(); ++j) c(i, j) += double(a(i, k)) * b(k, j);
  return c;
}

template <class Real>
Matrix<double> plain_gram(const Matrix<Real>& a) {
  Matrix<double> g(a.num_cols(), a.num_cols());
  for (Index row = 0; row < a.num_rows(); ++row)
    for (Index i = 0; i < a.num_cols(); ++i)
      for (Index j = 0; j < a.num_cols(); ++j) g(i, j) += double(a(row, i)) * double(a(row, j));
  return g;
}

// Some symmetric matrix with entries of size one.
Matrix<double> some_inverse(Index n) {
  auto inverse = plain_gram(test::random_matrix<double>(4, n, 5));
  for (double& x : inverse.flat()) x /= 4;
  return inverse;
}

template <class Real>
double inner_product(const Matrix<double>& m, const Matrix<Real>& a) {
  double sum = 0;
  for (std::size_t k = 0; k < m.flat().size(); ++k) sum += m.flat()[k] * double(a.flat()[k]);
  return sum;
}

template <class Real>
void expect_update_equals_its_parts(double tolerance) {
  std::uint64_t seed = 0;
  for (const auto& shape : test::problem_shapes())
    for (const Index n : test::component_counts())
      for (const int threads : {1, 3, 8}) {
        const test::Threads set(threads);
        FactorProblem<Real> p(shape.extents, shape.num_nonzeros, n, ++seed, shape.heavy);
        const int order = p.tensor().order();
        auto tensor = p.tensor();
        const CsfTree<Real> tree(tensor, natural_mode_order(order));
        const auto cuts = cut_evenly(tree, threads, n);
        const auto inverse = some_inverse(n);
        const auto m = ref::mttkrp<Real>(p.tensor(), p.factors, 0);
        const bool with_next = order > 2;
        PartialRows<Real> next(threads, p.tensor().extent(1), n);

        const auto sums =
            update_root<Real>({tree, cuts}, p.factors, {.inverse = inverse}, with_next ? &next : nullptr);

        ASSERT_LT(relative_difference(p.factors[0], product(m, inverse)), tolerance);
        ASSERT_LT(relative_difference(sums.gram, plain_gram(p.factors[0])), tolerance);
        const double expected = inner_product(m, p.factors[0]);
        ASSERT_NEAR(sums.inner, expected, tolerance * (1 + std::abs(expected)) * double(n));
        if (!with_next) continue;
        Matrix<Real> m_next(p.tensor().extent(1), n);
        add_up(next, m_next);
        ASSERT_LT(relative_difference(m_next, ref::mttkrp<Real>(p.tensor(), p.factors, 1)), tolerance);
        add_up(next, m_next);
        ASSERT_EQ(m_next, Matrix<Real>(p.tensor().extent(1), n)) << "parts are left zero";
      }
}

TEST(UpdateRoot, equals_an_mttkrp_a_solve_a_gram_and_the_next_mttkrp) {
  expect_update_equals_its_parts<double>(1e-12);
}

TEST(UpdateRoot, does_so_in_single_precision) {
  expect_update_equals_its_parts<float>(3e-5);
}

// a_0 + (m - a_0 V) inverse, by the definition.
template <class Real>
Matrix<double> corrected(const Matrix<double>& m, const RowSystem& system, const Matrix<Real>& old) {
  Matrix<double> start(old.num_rows(), old.num_cols()), rest = m;
  for (Index row = 0; row < old.num_rows(); ++row)
    for (Index r = 0; r < old.num_cols(); ++r) start(row, r) = double(old(row, r)) * system.start[r];
  const auto modelled = product(start, system.v);
  for (Index k = 0; k < std::ssize(rest.flat()); ++k) rest.flat()[k] -= modelled.flat()[k];
  auto result = product(rest, system.inverse);
  for (Index row = 0; row < old.num_rows(); ++row)
    for (Index r = 0; r < old.num_cols(); ++r) result(row, r) += start(row, r) * system.scale[r];
  return result;
}

template <class Real>
void expect_correction(double tolerance) {
  std::uint64_t seed = 0;
  for (const auto& shape : test::problem_shapes())
    for (const Index n : test::component_counts()) {
      const int threads = 1 + int(seed % 3);
      const test::Threads set(threads);
      FactorProblem<Real> p(shape.extents, shape.num_nonzeros, n, ++seed, shape.heavy);
      p.factors[0] = test::random_matrix<Real>(p.tensor().extent(0), n, seed);
      auto tensor = p.tensor();
      const CsfTree<Real> tree(tensor, natural_mode_order(tensor.order()));
      const auto cuts = cut_evenly(tree, threads, n);
      RowSystem system{.kind = RowSystem::Kind::correct, .inverse = some_inverse(n), .v = some_inverse(n)};
      for (Index r = 0; r < n; ++r) {
        system.start.push_back(std::exp2(r % 3));
        system.scale.push_back(std::exp2(-(r % 2)));
      }
      const auto m = ref::mttkrp<Real>(p.tensor(), p.factors, 0);
      Matrix<Real> m_here(m.num_rows(), n);
      std::ranges::copy(m.flat(), m_here.flat().begin());
      const auto expected = corrected(m, system, p.factors[0]);
      auto by_rows = p.factors[0];

      update_rows(m_here, system, by_rows, {0, by_rows.num_rows()});
      const auto sums = update_root<Real>({tree, cuts}, p.factors, system, nullptr);

      ASSERT_LT(relative_difference(by_rows, expected), tolerance);
      ASSERT_LT(relative_difference(p.factors[0], expected), tolerance);
      const double inner = inner_product(m, p.factors[0]);
      ASSERT_NEAR(sums.inner, inner, tolerance * (1 + std::abs(inner)) * double(n));
    }
}

TEST(UpdateRoot, corrects_the_rows_that_there_were) {
  expect_correction<double>(1e-12);
  expect_correction<float>(1e-4);
}

// Whose rows are stored past the caches.
TEST(UpdateRoot, of_a_factor_larger_than_the_caches_gives_the_same_bits) {
  for (const Index n : {8, 16, 24, 37})
    for (const int threads : {1, 3}) {
      const test::Threads set(threads);
      FactorProblem<double> p({300, 7, 9}, 4000, n, 7);
      auto tensor = p.tensor();
      const CsfTree<double> tree(tensor, natural_mode_order(3));
      const auto cuts = cut_evenly(tree, threads, n);
      const RowSystem system{.inverse = some_inverse(n)};
      const auto m = ref::mttkrp<double>(p.tensor(), p.factors, 0);
      auto small = p.factors, large = p.factors;
      const Index large_rows = Index(past_caches::min_bytes / sizeof(double)) / n + 1;

      for (const bool in_pass : {true, false}) {
        large[0] = Matrix<double>(large_rows, n);
        const auto update = [&](std::vector<Matrix<double>>& factors) {
          return in_pass ? update_root<double>({tree, cuts}, factors, system, nullptr)
                         : update_rows(m, system, factors[0], {0, 300, 0});
        };
        const auto expected = update(small), sums = update(large);

        for (Index row = 0; row < 300; ++row)
          ASSERT_TRUE(std::ranges::equal(large[0].row(row), small[0].row(row))) << row;
        ASSERT_EQ(sums.gram, expected.gram);
        ASSERT_EQ(sums.inner, expected.inner);
      }
    }
}

TEST(ScatterMttkrp, equals_the_definition_at_every_level) {
  std::uint64_t seed = 0;
  for (const auto& shape : test::problem_shapes())
    for (const int threads : {1, 2, 5}) {
      const test::Threads set(threads);
      FactorProblem<double> p(shape.extents, shape.num_nonzeros, 16, ++seed, shape.heavy);
      auto tensor = p.tensor();
      const CsfTree<double> tree(tensor, natural_mode_order(tensor.order()));
      const auto cuts = cut_evenly(tree, threads, 16);
      for (int level = 1; level < tensor.order(); ++level) {
        PartialRows<double> parts(threads, tensor.extent(level), 16);
        Matrix<double> m(tensor.extent(level), 16);

        scatter_mttkrp<double>({tree, cuts}, p.factors, level, parts);

        add_up(parts, m);
        ASSERT_LT(relative_difference(m, ref::mttkrp<double>(p.tensor(), p.factors, level)), 1e-13);
      }
    }
}

// Of the slices of some rows, with other rows of the root mode than those of the pass that kept the sums.
template <class Real>
void expect_kept_sums(double tolerance) {
  std::uint64_t seed = 0;
  for (const auto& shape : test::problem_shapes())
    for (const Index n : test::component_counts())
      for (const int threads : {1, 3, 8}) {
        if (shape.extents.size() < 3) continue;
        const test::Threads set(threads);
        FactorProblem<Real> p(shape.extents, shape.num_nonzeros, n, ++seed, shape.heavy);
        auto tensor = p.tensor();
        const CsfTree<Real> tree(tensor, natural_mode_order(tensor.order()));
        const Index rows = tensor.extent(0);
        Array<Real> kept;  // goes on being used, as a run does
        for (const Index first : {Index(0), rows / 3, rows}) {
          const auto cuts = cut_evenly(tree, nodes_of_rows(tree, first, rows), threads, n);
          auto factors = p.factors;
          Matrix<Real> plain(rows - first, n), m(rows - first, n);
          root_mttkrp<Real>({tree, cuts}, factors, plain, first);

          root_mttkrp<Real>({tree, cuts}, factors, m, first, &kept);
          factors[0] = test::random_matrix<Real>(rows, n, seed + 100);
          PartialRows<Real> parts(threads, tensor.extent(1), n), again(threads, tensor.extent(1), n);
          scatter_kept_sums<Real>({tree, cuts}, factors[0], kept, parts);

          // In single precision, with AVX-512, the compiler fuses other products with additions in the two.
          if constexpr (sizeof(Real) == sizeof(double)) {
            ASSERT_EQ(m, plain) << "keeping sums changes no bit";
          } else {
            ASSERT_LT(relative_difference(m, plain), tolerance);
          }
          scatter_mttkrp<Real>({tree, cuts}, factors, 1, again);
          Matrix<Real> next(tensor.extent(1), n), expected(tensor.extent(1), n);
          add_up(parts, next);
          add_up(again, expected);
          ASSERT_LT(relative_difference(next, expected), tolerance);
          if (first > 0) continue;
          ASSERT_LT(relative_difference(next, ref::mttkrp<Real>(p.tensor(), factors, 1)), tolerance);
        }
      }
}

TEST(KeptSums, give_the_next_mttkrp_when_the_rows_are_known) {
  expect_kept_sums<double>(1e-13);
}

TEST(KeptSums, do_so_in_single_precision) {
  expect_kept_sums<float>(3e-5);
}

template <class Real>
void expect_top_mttkrps(double tolerance) {
  std::uint64_t seed = 0;
  for (const auto& shape : test::problem_shapes())
    for (const Index n : test::component_counts())
      for (const int threads : {1, 3, 8}) {
        const test::Threads set(threads);
        FactorProblem<Real> p(shape.extents, shape.num_nonzeros, n, ++seed, shape.heavy);
        auto tensor = p.tensor();
        const int order = tensor.order();
        auto modes = natural_mode_order(order);
        std::ranges::rotate(modes, modes.begin() + std::ptrdiff_t(seed % std::uint64_t(order)));
        const CsfTree<Real> tree(tensor, modes);
        const auto cuts = cut_evenly(tree, threads, n);
        std::vector<PartialRows<Real>> parts;
        for (int level = 1; level < order; ++level)
          parts.emplace_back(threads - 1, p.tensor().extent(modes[level]), n);
        for (int num_levels = 1; num_levels <= order; ++num_levels) {
          std::vector<Matrix<Real>> m;
          for (int level = 0; level < num_levels; ++level)
            m.push_back(test::random_matrix<Real>(p.tensor().extent(modes[level]), n, seed));
          std::vector<Matrix<Real>*> targets;
          for (auto& of_level : m) targets.push_back(&of_level);

          top_mttkrps<Real>({tree, cuts}, p.factors, targets, parts);

          const auto first = m;
          for (int level = 0; level < num_levels; ++level)
            ASSERT_LT(relative_difference(m[level], ref::mttkrp<Real>(p.tensor(), p.factors, modes[level])),
                      tolerance)
                << level << " of " << num_levels;
          top_mttkrps<Real>({tree, cuts}, p.factors, targets, parts);
          ASSERT_EQ(m, first) << "not the same bits twice";
        }
      }
}

TEST(TopMttkrps, equal_the_definition_at_every_level) {
  expect_top_mttkrps<double>(1e-13);
}

TEST(TopMttkrps, do_so_in_single_precision) {
  expect_top_mttkrps<float>(3e-5);
}

// Rows from `first` on by one pass that only sums, those before by one that solves: as when other processes
// add to some rows.
TEST(UpdateRoot, of_some_slices_leaves_the_others_to_a_second_pass) {
  std::uint64_t seed = 0;
  for (const auto& shape : test::problem_shapes())
    for (const int threads : {1, 3, 8}) {
      const test::Threads set(threads);
      FactorProblem<double> p(shape.extents, shape.num_nonzeros, 5, ++seed, shape.heavy);
      auto tensor = p.tensor();
      const int order = tensor.order();
      const CsfTree<double> tree(tensor, natural_mode_order(order));
      const Index rows = p.tensor().extent(0);
      const auto inverse = some_inverse(5);
      for (const Index first : {Index(0), rows / 3, rows}) {
        auto factors = p.factors;
        const auto before = cut_evenly(tree, nodes_of_rows(tree, 0, first), threads, 5);
        const auto behind = cut_evenly(tree, nodes_of_rows(tree, first, rows), threads, 5);
        Matrix<double> m(rows - first, 5);
        PartialRows<double> next(threads, p.tensor().extent(1), 5);
        const bool with_next = order > 2;

        root_mttkrp<double>({tree, behind}, factors, m, first);
        auto sums =
            update_root<double>({tree, before}, factors, {.inverse = inverse}, with_next ? &next : nullptr);
        sums += update_rows(m, {.inverse = inverse}, factors[0], {first, rows, first});
        if (with_next) scatter_mttkrp<double>({tree, behind}, factors, 1, next);

        const auto expected = product(ref::mttkrp<double>(p.tensor(), p.factors, 0), inverse);
        ASSERT_LT(relative_difference(factors[0], expected), 1e-12);
        ASSERT_LT(relative_difference(sums.gram, plain_gram(factors[0])), 1e-12);
        if (!with_next) continue;
        Matrix<double> m_next(p.tensor().extent(1), 5);
        add_up(next, m_next);
        ASSERT_LT(relative_difference(m_next, ref::mttkrp<double>(p.tensor(), factors, 1)), 1e-12);
      }
    }
}

TEST(UpdateRows, from_parts_and_from_a_matrix_are_the_same) {
  for (const Index n : test::component_counts())
    for (const Index rows : {1, 3, 4, 67}) {
      const auto m = test::random_matrix<double>(rows, n, 1);
      PartialRows<double> parts(3, rows, n);
      for (Index k = 0; k < rows * n; ++k) parts.part(int(k % 3))[k] = m.flat()[k];
      Matrix<double> a(rows, n), b(rows, n);

      const auto sums = update_rows(m, {.inverse = some_inverse(n)}, a, {0, rows});
      const auto from_parts = update_rows(parts, {.inverse = some_inverse(n)}, b, rows);

      ASSERT_EQ(a, b);
      ASSERT_EQ(sums.gram, from_parts.gram);
      ASSERT_LT(relative_difference(a, product(m, some_inverse(n))), 1e-13);
      ASSERT_LT(relative_difference(sums.gram, plain_gram(a)), 1e-13);
      ASSERT_LT(relative_difference(gram(a, rows), plain_gram(a)), 1e-13);
    }
}

}  // namespace
}  // namespace polyad::kernels
