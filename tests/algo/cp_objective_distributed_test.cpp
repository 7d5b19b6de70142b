#include <gtest/gtest.h>

#include <cmath>

#include "polyad/algo/cp/cp_objective.hpp"
#include "polyad/algo/cp/cp_opt.hpp"
#include "tests/support/decomposed.hpp"
#include "tests/support/dense_planted.hpp"
#include "tests/support/distributed_cases.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/shares.hpp"

namespace polyad {
namespace {

// Small enough to visit every cell: orders 2 to 6, lengths of 1, one nonzero, slices without nonzeros, more
// processes than rows.
const std::vector<test::DistributedCase> objective_cases{
    {{12, 9}, 20, 37},           {{6, 1}, 4, 1},
    {{1, 1, 1}, 1, 1},           {{5, 1, 4}, 7, 37},
    {{9, 11, 10}, 40, 1},        {{9, 8, 7}, 300, 37},
    {{7, 6, 5, 4}, 60, 1},       {{4, 5, 6, 7}, 400, 37},
    {{5, 4, 3, 4, 3}, 90, 1},    {{2, 5, 4, 3, 4}, 100, 37},
    {{3, 2, 4, 2, 3, 2}, 50, 1}, {{2, 3, 4, 2, 3, 2}, 50, 37}};

// An entry of the factors at which the objective is evaluated.
double some_entry(int mode, Index row, Index component) {
  return 0.4 * Random(std::uint64_t(mode), 7).normal(std::uint64_t(row * 64 + component));
}

// The factors of all rows, and the gradient there; rows of slices without nonzeros are zero in both.
struct PlainGradient {
  std::vector<Matrix<double>> factors, gradient;  // [mode]
  double value = 0;
};

// f = 1/2 |X/|X| - model|^2 and its derivatives, cell by cell.
PlainGradient plain_gradient(const SparseTensor<double>& x, Index num_components) {
  auto sorted = x;
  sort_nonzeros(sorted, natural_mode_order(x.order()));
  merge_duplicates(sorted);
  const double norm = std::sqrt(squared_norm<double>(sorted.values()));
  PlainGradient plain;
  for (int m = 0; m < x.order(); ++m) {
    plain.factors.emplace_back(x.extent(m), num_components);
    plain.gradient.emplace_back(x.extent(m), num_components);
    for (const Index row : x.indices(m))
      for (Index r = 0; r < num_components; ++r) plain.factors[m](row, r) = some_entry(m, row, r);
  }
  Index z = 0;
  test::for_each_cell(x.extents(), [&](const std::vector<Index>& at) {
    const bool is_nonzero = z < sorted.num_nonzeros() && test::coordinates(sorted, z) == at;
    double residual = is_nonzero ? -sorted.values()[z++] / norm : 0;
    for (Index r = 0; r < num_components; ++r) {
      double product = 1;
      for (int m = 0; m < x.order(); ++m) product *= plain.factors[m](at[m], r);
      residual += product;
    }
    plain.value += residual * residual / 2;
    for (int m = 0; m < x.order(); ++m)
      for (Index r = 0; r < num_components; ++r) {
        double product = residual;
        for (int k = 0; k < x.order(); ++k)
          if (k != m) product *= plain.factors[k](at[k], r);
        plain.gradient[m](at[m], r) += product;
      }
  });
  return plain;
}

void expect_gradient(const PreparedTensor<double>& x, const AlsPlan& plan, const PlainGradient& expected) {
  const Index n = expected.factors[0].num_cols();
  CpObjective<double> objective(x.tensor, plan, n);
  for (int m = 0; m < x.tensor.order(); ++m)
    for (Index row = 0; row < x.tensor.num_owned(m); ++row)
      for (Index r = 0; r < n; ++r)
        objective.factors()[m][row * objective.num_cols() + r] = some_entry(m, x.tensor.rows(m)[row], r);
  for (int twice = 0; twice < 2; ++twice) {
    const auto f = objective.evaluate(objective.gradient());

    EXPECT_NEAR(f.value, expected.value, 1e-12 * (1 + expected.value));
    double largest = 0;
    for (const auto& of_mode : expected.gradient)
      for (const double entry : of_mode.flat()) largest = std::max(largest, std::abs(entry));
    for (int m = 0; m < x.tensor.order(); ++m)
      for (Index row = 0; row < x.tensor.num_owned(m); ++row)
        for (Index r = 0; r < n; ++r)
          ASSERT_NEAR(objective.gradient()[m][row * objective.num_cols() + r],
                      expected.gradient[m](x.tensor.rows(m)[row], r), 1e-12 * (1 + largest))
              << describe(plan) << ", mode " << m << ", row " << x.tensor.rows(m)[row];
  }
}

// All, or on several processes one after the other: preparing a tensor takes most of the time there.
std::vector<std::string> formats_of(const Distribution& distribution, int n) {
  if (distribution.num_parts == 1) return format_names();
  const auto names = distribution.scheme == Scheme::coarse ? std::vector<std::string>{"csf", "coo", "hicoo"}
                                                           : format_names();
  return {names[std::size_t(n) % names.size()]};
}

TEST(DistributedCpObjective, has_the_gradient_that_follows_from_the_definition) {
  const Comm comm = Comm::world();
  int n = comm.size();
  for (const auto& c : objective_cases)
    for (int round = 0; round < 9; ++round, ++n) {
      const auto whole = test::tame_tensor(c.extents, c.num_nonzeros, std::uint64_t(n));
      const auto share = test::share_of(whole, comm);
      const auto expected = plain_gradient(whole, c.num_components);
      const test::Threads threads(1 + n % 3);
      const Distributor distributor(comm, share, comm.size(), std::uint64_t(n));
      auto distribution = test::plain_distribution(distributor, comm.size(), n);
      if (n % 2 == 0) distribution.num_stages.assign(c.extents.size(), 1 + n / 2 % max_stages(comm.size()));
      for (const auto& format : formats_of(distribution, n)) {
        SCOPED_TRACE("case " + std::to_string(n) + " in " + format);
        auto options = test::options_for(c.num_components, 1);
        options.method = Method::opt;
        options.format = format;
        Progress silent;
        const auto x = prepare<double>(comm, share, options, silent, distribution);

        expect_gradient(x, x.chosen.plan, expected);
        expect_gradient(x, plain_plan(x.chosen.plan.mode_order, x.chosen.plan.trees), expected);
      }
    }
}

// A pass per mode is how evaluations were once made.
TEST(DistributedCpOpt, follows_the_trajectory_that_a_pass_per_mode_gives) {
  const Comm comm = Comm::world();
  int n = comm.size();
  for (const auto& c : test::distributed_cases())
    for (int round = 0; round < 4; ++round, ++n) {
      const auto share =
          test::share_of(test::tame_tensor(c.extents, c.num_nonzeros, std::uint64_t(n), c.heavy), comm);
      auto options = test::options_for(c.num_components, 5);
      options.method = Method::opt;
      const test::Threads threads(1 + n % 2);
      const Distributor distributor(comm, share, comm.size(), std::uint64_t(n));
      Progress silent;
      const auto x = prepare<double>(comm, share, options, silent,
                                     test::plain_distribution(distributor, comm.size(), n));
      const auto plain = plain_plan(x.chosen.plan.mode_order, x.chosen.plan.trees);

      const auto planned = cp_opt<double>(x.tensor, x.chosen.plan, options.als),
                 former = cp_opt<double>(x.tensor, plain, options.als);

      ASSERT_EQ(planned.iterations(), former.iterations());
      EXPECT_EQ(planned.evaluations, former.evaluations);
      for (int i = 0; i < planned.iterations(); ++i)
        EXPECT_NEAR(test::squared_residual(planned.fit_trajectory[i]),
                    test::squared_residual(former.fit_trajectory[i]), 1e-12)
            << describe(x.chosen.plan) << ", iteration " << i;
    }
}

}  // namespace
}  // namespace polyad
