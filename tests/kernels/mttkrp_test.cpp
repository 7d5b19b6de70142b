#include "polyad/kernels/cp/mttkrp.hpp"

#include <gtest/gtest.h>

#include "tests/support/factor_problem.hpp"
#include "tests/support/generated.hpp"

namespace polyad::kernels {
namespace {

using test::FactorProblem;

template <class Real>
void expect_all_formats_equal_the_definition(double tolerance) {
  std::uint64_t seed = 0;
  for (const auto& shape : test::problem_shapes())
    for (const Index n : test::component_counts()) {
      const FactorProblem<Real> p(shape.extents, shape.num_nonzeros, n, ++seed, shape.heavy);
      std::size_t format = 0;
      for (const auto& x : test::all_formats(p.tensor())) {
        for (int mode = 0; mode < p.tensor().order(); ++mode) {
          const auto expected = ref::mttkrp<Real>(p.tensor(), p.factors, mode);
          auto m = test::random_matrix<Real>(p.tensor().extent(mode), n, 99);  // to be overwritten

          mttkrp<Real>(x, p.factors, mode, m);

          ASSERT_LT(test::relative_difference(m, expected), tolerance)
              << "order " << p.tensor().order() << ", components " << n << ", mode " << mode << ", format "
              << format;
        }
        ++format;
      }
    }
}

TEST(Mttkrp, equals_its_definition_in_every_format) {
  expect_all_formats_equal_the_definition<double>(1e-13);
}

TEST(Mttkrp, equals_its_definition_in_single_precision) {
  expect_all_formats_equal_the_definition<float>(2e-5);
}

TEST(Mttkrp, does_not_depend_on_the_number_of_threads_but_for_rounding) {
  for (const auto& shape : test::problem_shapes()) {
    const FactorProblem<double> p(shape.extents, shape.num_nonzeros, 16, 3, shape.heavy);
    for (const auto& x : test::all_formats(p.tensor()))
      for (int mode = 0; mode < p.tensor().order(); ++mode) {
        const auto with = [&](int threads) {
          const test::Threads set(threads);
          Matrix<double> m(p.tensor().extent(mode), 16);
          mttkrp<double>(x, p.factors, mode, m);
          return m;
        };
        const auto one = with(1);
        for (const int threads : {2, 3, 7, 16}) {
          ASSERT_LT(test::relative_difference(with(threads), one), 1e-13);
          ASSERT_EQ(with(threads), with(threads)) << "the same bits on every run";
        }
      }
  }
}

}  // namespace
}  // namespace polyad::kernels
