#include "polyad/algo/cp/cp_opt.hpp"

#include <gtest/gtest.h>

#include "polyad/algo/cp/cp_objective.hpp"
#include "polyad/kernels/analysis/factor_match.hpp"
#include "tests/support/cp_cases.hpp"
#include "tests/support/decomposed.hpp"
#include "tests/support/dense_planted.hpp"
#include "tests/support/factor_problem.hpp"

namespace polyad {
namespace {

using test::decompose;
using test::squared;

CpRunOptions opt_options_for(Index num_components, int iterations, double tolerance = 0,
                             std::uint64_t seed = 1) {
  auto options = test::options_for(num_components, iterations, tolerance, seed);
  options.method = Method::opt;
  return options;
}

// A small tensor with all its cells, the last mode fastest.
struct DenseTensor {
  explicit DenseTensor(const SparseTensor<double>& x) : extents(x.extents()) {
    auto sorted = x;
    sort_nonzeros(sorted, natural_mode_order(x.order()));
    merge_duplicates(sorted);
    norm = std::sqrt(squared_norm<double>(sorted.values()));
    Index z = 0;
    test::for_each_cell(extents, [&](const std::vector<Index>& at) {
      const bool is_nonzero = z < sorted.num_nonzeros() && test::coordinates(sorted, z) == at;
      values.push_back(is_nonzero ? sorted.values()[z++] : 0);
    });
  }
  std::vector<Index> extents;
  std::vector<double> values;
  double norm = 0;
};

// 1/2 |X/|X| - model|^2, cell by cell.
double plain_objective(const DenseTensor& x, const Kruskal<double>& model) {
  double sum = 0;
  std::size_t cell = 0;
  test::for_each_cell(x.extents, [&](const std::vector<Index>& at) {
    sum += squared(x.values[cell++] / x.norm - kernels::ref::entry<double>(model, at)) / 2;
  });
  return sum;
}

// The factors of an objective with a row for every index, and weights of one.
Kruskal<double> whole_model(const DistTensor<double>& x, const CpObjective<double>& objective,
                            Index num_components) {
  Kruskal<double> model{std::vector<double>(std::size_t(num_components), 1.0), {}};
  for (int m = 0; m < x.order(); ++m) {
    auto& factor = model.factors.emplace_back(x.extents()[m], num_components);
    for (Index row = 0; row < x.num_rows(m); ++row)
      for (Index r = 0; r < num_components; ++r)
        factor(x.rows(m)[row], r) = objective.factors()[m][row * objective.num_cols() + r];
  }
  return model;
}

const std::vector<std::vector<Index>> small_shapes{{7, 5}, {6, 1}, {6, 5, 4}, {5, 4, 3, 4}, {3, 3, 2, 3, 2}};

double squared_norm_of(const std::vector<Index>& extents, const Kruskal<double>& model) {
  double sum = 0;
  test::for_each_cell(extents,
                      [&](const auto& at) { sum += squared(kernels::ref::entry<double>(model, at)); });
  return sum;
}

// To be nowhere in particular: the start may be a minimum.
void disturb(const kernels::FactorVector<double>& factors, Index num_components, Index num_cols) {
  for (std::size_t m = 0; m < factors.size(); ++m)
    for (Index k = 0; k < std::ssize(factors[m]); ++k)
      if (k % num_cols < num_components) factors[m][k] += 0.3 * Random(m, 1).normal(std::uint64_t(k));
}

// The slope of f along one entry, from two values.
double finite_difference(const DenseTensor& x, Kruskal<double>& model, double& entry) {
  constexpr double step = 1e-5;
  const double here = entry;
  entry = here + step;
  const double above = plain_objective(x, model);
  entry = here - step;
  const double below = plain_objective(x, model);
  entry = here;
  return (above - below) / (2 * step);
}

TEST(CpObjective, is_what_its_definition_says_and_its_gradient_what_finite_differences_say) {
  int n = 0;
  for (const auto& dims : small_shapes)
    for (const Index num_components : {1, 5})
      for (const auto& format : format_names()) {
        const auto tensor = test::tame_tensor(dims, 40, std::uint64_t(++n));
        auto options = opt_options_for(num_components, 1);
        options.format = format;
        Progress silent;
        const auto x = prepare<double>(Comm::self(), tensor, options, silent);
        CpObjective<double> objective(x.tensor, x.chosen.plan, num_components);
        objective.start({.seed = std::uint64_t(n)});
        const DenseTensor dense(tensor);
        EXPECT_NEAR(squared_norm_of(dense.extents, whole_model(x.tensor, objective, num_components)), 1,
                    1e-12);
        disturb(objective.factors(), num_components, objective.num_cols());

        const auto f = objective.evaluate(objective.gradient());

        auto model = whole_model(x.tensor, objective, num_components);
        EXPECT_NEAR(f.value, plain_objective(dense, model), 1e-12);
        EXPECT_NEAR(f.slope, f.squared_gradient, 1e-12);
        double largest = 0;
        for (int m = 0; m < x.tensor.order(); ++m)
          for (Index row = 0; row < x.tensor.num_rows(m); ++row)
            for (Index r = 0; r < num_components; ++r) {
              const double gradient = objective.gradient()[m][row * objective.num_cols() + r];
              double& entry = model.factors[m](x.tensor.rows(m)[row], r);
              EXPECT_NEAR(gradient, finite_difference(dense, model, entry), 1e-8) << format;
              largest = std::max(largest, std::abs(gradient));
            }
        EXPECT_GT(largest, 1e-3);
      }
}

TEST(CpOpt, says_the_fit_that_its_model_has) {
  const test::Threads single_thread(1);  // the tensors are small
  for (const auto& dims : small_shapes)
    for (const Index n : {1, 3, 8}) {
      const auto x = test::tame_tensor(dims, 40, std::uint64_t(n));

      const auto result = decompose(x, opt_options_for(n, 7));

      auto relative = result.model;
      const DenseTensor dense(x);
      for (double& weight : relative.weights) weight /= dense.norm;
      EXPECT_NEAR(squared(1 - result.fit()), 2 * plain_objective(dense, relative), 1e-12);
      test::expect_finite(result.model);
    }
}

TEST(CpOpt, never_loses_fit) {
  const test::Threads single_thread(1);  // the tensors are small
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto x = test::tame_tensor({30, 20, 10}, 500, seed);
    for (const auto& fits : {decompose(x, opt_options_for(6, 60, 0, seed)).fits,
                             decompose(x, opt_options_for(37, 60, 0, seed)).fits})
      for (std::size_t i = 1; i < fits.size(); ++i)
        EXPECT_LE(squared(1 - fits[i]), squared(1 - fits[i - 1]) + 1e-14) << i;
  }
}

TEST(CpOpt, finds_what_was_planted) {
  const test::Threads single_thread(1);  // the tensors are small
  for (const std::vector<Index>& dims :
       {std::vector<Index>{60, 50, 40}, {30, 25, 20, 15}, {15, 14, 13, 12, 11}})
    test::expect_recovery(dims, opt_options_for(5, 500, 1e-9), 5);
}

// From most starts; alternating least squares finds the true components among too many from fewer.
TEST(CpOpt, finds_what_was_planted_in_dense_tensors_also_with_too_many_components) {
  const test::Threads single_thread(1);  // the tensors are small
  const std::vector<Index> dims{20, 18, 15};
  for (const Index n : {3, 4, 5}) {
    int fitted = 0, matched = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      const auto truth = test::random_model(dims, 3, 1000 * seed);
      const auto result = decompose(test::dense_tensor(dims, truth), opt_options_for(n, 2000, 1e-9, seed));
      fitted += result.fit() > 0.999 ? 1 : 0;
      matched += kernels::factor_match_score(result.model, truth) > (n == 3 ? 0.99 : 0.95) ? 1 : 0;
    }
    EXPECT_GE(fitted, n == 3 ? 7 : 8) << n;
    EXPECT_GE(matched, n == 3 ? 7 : 4) << n;
  }
}

TEST(CpOpt, has_sensible_results_in_degenerate_cases) {
  const test::Threads single_thread(1);  // the tensors are small
  const test::DegenerateTensors x;
  for (const auto& format : format_names())
    for (const Index n : {1, 5, 37}) {
      auto options = opt_options_for(n, 100);
      options.format = format;
      test::expect_sensible(x, options);
    }
}

TEST(CpOpt, follows_one_trajectory_in_every_format_and_on_any_number_of_threads) {
  for (const auto& [dims, nonzeros] : {std::pair<std::vector<Index>, Index>{{60, 80}, 900},
                                       {{200, 30, 150}, 3000},
                                       {{50, 20, 60, 9}, 2000},
                                       {{12, 30, 5, 8, 20}, 1500}}) {
    const auto x = test::tame_tensor(dims, nonzeros, 11, true);
    auto options = opt_options_for(5, 10);
    const auto reference = decompose(x, options).fits;
    EXPECT_EQ(reference.size(), 10);
    for (const auto& format : format_names())
      for (const int threads : {1, 2, 5}) {
        const test::Threads set(threads);
        options.format = format;
        const auto fits = decompose(x, options).fits;
        ASSERT_EQ(fits.size(), reference.size());
        for (std::size_t i = 0; i < fits.size(); ++i) EXPECT_NEAR(fits[i], reference[i], 1e-10) << format;
        EXPECT_EQ(fits, decompose(x, options).fits) << "not the same bits twice";
      }
  }
}

TEST(CpOpt, in_single_precision_is_near_double) {
  const auto x = test::tame_tensor({200, 30, 150}, 3000, 5, true);
  const auto both = decompose(x, opt_options_for(8, 50)),
             single = decompose<float>(x, opt_options_for(8, 50));

  EXPECT_NEAR(single.fit(), both.fit(), 1e-2);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(single.fits[i], both.fits[i], 1e-4) << i;
  for (std::size_t i = 1; i < single.fits.size(); ++i) EXPECT_GT(single.fits[i], single.fits[i - 1] - 1e-5);
}

TEST(CpOpt, does_not_mind_the_size_of_the_values) {
  const auto x = test::tame_tensor({12, 9, 7}, 200, 3);
  const auto expected = decompose(x, opt_options_for(4, 10));
  for (const double size : {1e-300, 1e-170, 1e-30, 1e30, 1e160, 1e300}) {
    auto scaled = x;
    for (double& value : scaled.values()) value *= size;

    const auto result = decompose(scaled, opt_options_for(4, 10)),
               single = decompose<float>(scaled, opt_options_for(4, 10));

    EXPECT_NEAR(result.fit(), expected.fit(), 1e-9) << size;
    EXPECT_NEAR(single.fit(), expected.fit(), 1e-3) << size;
    for (Index r = 0; r < 4; ++r)
      EXPECT_NEAR(result.model.weights[r] / size / expected.model.weights[r], 1, 1e-6);
  }
}

TEST(CpOpt, stops_where_it_is_told) {
  const auto x = test::tame_tensor({30, 20, 10}, 500, 3);
  Progress silent;
  const auto options = opt_options_for(3, 1000, 1e-6);
  const auto prepared = prepare<double>(Comm::self(), x, options, silent);

  const auto converged = cp_opt<double>(prepared.tensor, prepared.chosen.plan, options.als);
  const auto stopped = cp_opt<double>(prepared.tensor, prepared.chosen.plan, options.als,
                                      [](const CpProgress& p) { return p.iteration < 3; });
  const auto none = cp_opt<double>(prepared.tensor, prepared.chosen.plan, opt_options_for(3, 0).als);
  const auto to_the_end =
      cp_opt<double>(prepared.tensor, prepared.chosen.plan, opt_options_for(3, 100000).als);

  EXPECT_EQ(converged.stop, StopReason::converged);
  EXPECT_LT(std::abs(converged.fit() - converged.fit_trajectory[converged.fit_trajectory.size() - 2]), 1e-6);
  EXPECT_EQ(stopped.stop, StopReason::observer);
  EXPECT_EQ(stopped.iterations(), 3);
  EXPECT_GT(stopped.evaluations, 3);
  EXPECT_EQ(none.iterations(), 0);
  EXPECT_EQ(none.evaluations, 1) << "the start";
  EXPECT_EQ(none.model.weights, std::vector<double>(3, 0.0));
  EXPECT_EQ(to_the_end.stop, StopReason::converged) << "where the gradient is rounding, there is no way on";
  EXPECT_LT(to_the_end.iterations(), 100000);
}

}  // namespace
}  // namespace polyad
