#include "polyad/algo/cp/cp_als.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "polyad/kernels/analysis/factor_match.hpp"
#include "polyad/kernels/cp/factor.hpp"
#include "polyad/kernels/cp/mttkrp.hpp"
#include "polyad/kernels/cp/normal_equations.hpp"
#include "polyad/kernels/cp/row_update.hpp"
#include "polyad/tensor/generate/generate.hpp"
#include "tests/support/cp_cases.hpp"
#include "tests/support/decomposed.hpp"
#include "tests/support/factor_problem.hpp"

namespace polyad {
namespace {

using test::decompose;
using test::options_for;
using test::plain_fit;
using test::squared;

TEST(CpAls, says_the_fit_that_its_model_has) {
  for (const std::vector<Index>& dims :
       {std::vector<Index>{7, 5}, {6, 5, 4}, {5, 4, 3, 4}, {3, 3, 2, 3, 2}, {2, 3, 2, 2, 2, 3}})
    for (const Index n : {1, 3, 8}) {
      const auto x = test::tame_tensor(dims, 40, std::uint64_t(n));

      const auto result = decompose(x, options_for(n, 7));

      EXPECT_NEAR(squared(1 - result.fit()), squared(1 - plain_fit(x, result.model)), 1e-12);
      test::expect_finite(result.model);
    }
}

TEST(CpAls, never_loses_fit) {
  const auto x = test::tame_tensor({30, 20, 10}, 500, 3);

  const auto result = decompose(x, options_for(6, 30));

  for (std::size_t i = 1; i < result.fits.size(); ++i) EXPECT_GE(result.fits[i], result.fits[i - 1] - 1e-12);
}

// |Delta rho^2| <= 1e-12 per iteration over the first ten.
void expect_same_trajectory(const std::vector<double>& a, const std::vector<double>& b,
                            const std::string& what) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(squared(1 - a[i]), squared(1 - b[i]), 1e-12) << what << ", iteration " << i;
}

TEST(CpAls, follows_one_trajectory_in_every_format_and_on_any_number_of_threads) {
  for (const auto& [dims, nonzeros] : {std::pair<std::vector<Index>, Index>{{60, 80}, 900},
                                       {{200, 30, 150}, 3000},
                                       {{50, 20, 60, 9}, 2000},
                                       {{12, 30, 5, 8, 20}, 1500},
                                       {{5, 6, 7, 4, 3, 5}, 900}}) {
    const auto x = test::tame_tensor(dims, nonzeros, 11, true);
    auto options = options_for(5, 10);
    const auto reference = decompose(x, options).fits;
    for (const auto& format : format_names())
      for (const int threads : {1, 2, 5}) {
        const test::Threads set(threads);
        options.format = format;
        expect_same_trajectory(decompose(x, options).fits, reference, format);
      }
  }
}

TEST(CpAls, gives_the_same_bits_when_it_runs_twice) {
  const auto x = test::tame_tensor({200, 30, 150}, 3000, 5, true);
  for (const auto& format : format_names()) {
    auto options = options_for(16, 5);
    options.format = format;

    const auto a = decompose(x, options), b = decompose(x, options);

    EXPECT_EQ(a.fits, b.fits) << format;
    EXPECT_EQ(a.model, b.model) << format;
  }
}

// The textbook iteration of alternating least squares: normalised columns, plain kernels.
std::vector<double> textbook_fits(const SparseTensor<double>& x, const CpRunOptions& options) {
  const auto compacted = compact<double>(x);
  const auto& tensor = compacted.tensor;
  const Index n = options.als.num_components;
  const auto num_negative = std::ranges::count_if(tensor.values(), [](double value) { return value < 0; });
  const kernels::RandomStart start{
      .seed = options.als.seed,
      .is_uniform = options.als.start == Start::uniform ||
                    (options.als.start == Start::automatic && 10 * num_negative <= tensor.num_nonzeros())};
  std::vector<Matrix<double>> factors, grams;
  for (int m = 0; m < tensor.order(); ++m) {
    factors.emplace_back(tensor.extent(m), n);
    for (Index row = 0; row < tensor.extent(m); ++row)
      for (Index r = 0; r < n; ++r) factors[m](row, r) = start.value(m, compacted.rows[m][row], r);
    grams.push_back(kernels::gram(factors[m], factors[m].num_rows()));
  }
  const double norm = squared_norm<double>(tensor.values());
  std::vector<double> fits;
  for (int iteration = 0; iteration < options.als.max_iterations; ++iteration) {
    double inner = 0, model_norm = 0;
    for (const int m : options.mode_order) {
      const auto mk = kernels::ref::mttkrp<double>(tensor, factors, m);
      const auto inverse = kernels::pseudo_inverse(kernels::hadamard_except(grams, m));
      auto& a = factors[m];
      std::ranges::fill(a.flat(), 0.0);
      inner = 0;
      for (Index row = 0; row < a.num_rows(); ++row)
        for (Index r = 0; r < n; ++r) {
          for (Index k = 0; k < n; ++k) a(row, r) += mk(row, k) * inverse(k, r);
          inner += mk(row, r) * a(row, r);
        }
      grams[m] = kernels::gram(a, a.num_rows());
      model_norm = kernels::sum_of_entries(kernels::hadamard_except(grams, -1));
      for (Index r = 0; r < n; ++r) {
        const double length = std::sqrt(grams[m](r, r));
        for (Index row = 0; row < a.num_rows(); ++row) a(row, r) = length > 0 ? a(row, r) / length : 0;
      }
      grams[m] = kernels::gram(a, a.num_rows());
    }
    fits.push_back(1 - std::sqrt(std::max(0.0, norm - 2 * inner + model_norm) / norm));
  }
  return fits;
}

TEST(CpAls, follows_the_textbook) {
  for (const std::vector<Index>& dims : {std::vector<Index>{60, 80}, {40, 30, 50}, {20, 9, 30, 7}}) {
    const auto x = test::tame_tensor(dims, 1200, 2);
    auto options = options_for(4, 10);
    options.mode_order = natural_mode_order(x.order());

    expect_same_trajectory(decompose(x, options).fits, textbook_fits(x, options), "textbook");
  }
}

TEST(CpAls, finds_what_was_planted) {
  for (const std::vector<Index>& dims :
       {std::vector<Index>{60, 50, 40}, {30, 25, 20, 15}, {15, 14, 13, 12, 11}, {9, 8, 9, 8, 9, 8}})
    test::expect_recovery(dims, options_for(5, 500, 1e-9), 10);
}

TEST(CpAls, treats_a_matrix_as_the_truncated_singular_value_decomposition_does) {
  // Two blocks of ones, 8 x 8 and 4 x 4, and a single entry: singular values 8, 4, 1.
  SparseTensor<double> x({13, 13});
  for (Index i = 0; i < 13; ++i)
    for (Index j = 0; j < 13; ++j)
      if ((i < 8 && j < 8) || (i >= 8 && i < 12 && j >= 8 && j < 12) || (i == 12 && j == 12))
        x.append(std::vector<Index>{i, j}, 1.0);
  const double norm = std::sqrt(81.0);

  EXPECT_NEAR(decompose(x, options_for(1, 300)).fit(), 1 - std::sqrt(17.0) / norm, 1e-7);
  EXPECT_NEAR(decompose(x, options_for(2, 300)).fit(), 1 - 1 / norm, 1e-7);
  EXPECT_NEAR(decompose(x, options_for(3, 300)).fit(), 1, 1e-6);
}

TEST(CpAls, has_sensible_results_in_degenerate_cases) {
  const test::DegenerateTensors x;
  for (const auto& format : format_names())
    for (const Index n : {1, 5, 37}) {
      auto options = options_for(n, 20);
      options.format = format;
      test::expect_sensible(x, options);
    }
}

TEST(CpAls, normalises_and_sorts_its_model) {
  const auto result = decompose(test::tame_tensor({30, 20, 10}, 500, 3), options_for(6, 10));

  EXPECT_TRUE(std::ranges::is_sorted(result.model.weights, std::ranges::greater{}));
  for (int m = 0; m < 3; ++m) {
    const auto& factor = result.model.factors[m];
    for (Index r = 0; r < 6; ++r) {
      double norm = 0, largest = 0;
      for (Index row = 0; row < factor.num_rows(); ++row) {
        norm += squared(factor(row, r));
        if (std::abs(factor(row, r)) > std::abs(largest)) largest = factor(row, r);
      }
      EXPECT_NEAR(norm, 1, 1e-12);
      if (m > 0) {
        EXPECT_GT(largest, 0);
      }
    }
  }
}

TEST(CpAls, stops_where_it_is_told) {
  const auto x = test::tame_tensor({30, 20, 10}, 500, 3);
  Progress silent;
  const auto options = options_for(3, 1000, 1e-6);
  const auto prepared = prepare<double>(Comm::self(), x, options, silent);

  const auto converged = cp_als<double>(prepared.tensor, prepared.chosen.plan, options.als);
  const auto stopped = cp_als<double>(prepared.tensor, prepared.chosen.plan, options.als,
                                      [](const CpProgress& p) { return p.iteration < 3; });
  const auto none = cp_als<double>(prepared.tensor, prepared.chosen.plan, options_for(3, 0).als);

  EXPECT_EQ(converged.stop, StopReason::converged);
  EXPECT_LT(std::abs(converged.fit() - converged.fit_trajectory[converged.fit_trajectory.size() - 2]), 1e-6);
  EXPECT_EQ(stopped.stop, StopReason::observer);
  EXPECT_EQ(stopped.iterations(), 3);
  EXPECT_EQ(none.iterations(), 0);
}

TEST(CpAls, in_single_precision_is_near_double) {
  const auto x = test::tame_tensor({200, 30, 150}, 3000, 5, true);
  const auto options = options_for(8, 10);

  EXPECT_NEAR(decompose<float>(x, options).fit(), decompose(x, options).fit(), 1e-4);
}

TEST(CpAls, does_not_mind_the_size_of_the_values) {
  const auto x = test::tame_tensor({12, 9, 7}, 200, 3);
  const auto expected = decompose(x, options_for(4, 10));
  for (const double size : {1e-300, 1e-170, 1e-30, 1e30, 1e160, 1e300}) {
    auto scaled = x;
    for (double& value : scaled.values()) value *= size;

    const auto result = decompose(scaled, options_for(4, 10)),
               single = decompose<float>(scaled, options_for(4, 10));

    EXPECT_NEAR(result.fit(), expected.fit(), 1e-9) << size;
    EXPECT_NEAR(single.fit(), expected.fit(), 1e-4) << size;
    for (Index r = 0; r < 4; ++r) {
      EXPECT_NEAR(result.model.weights[r] / size / expected.model.weights[r], 1, 1e-6);
      EXPECT_NEAR(single.model.weights[r] / size / expected.model.weights[r], 1, 1e-2);
    }
  }
}

TEST(CpAls, without_negative_entries_finds_what_was_planted) {
  for (const std::vector<Index>& dims : {std::vector<Index>{60, 50, 40}, {30, 25, 20, 15}}) {
    auto options = options_for(5, 500, 1e-9);
    options.als.nonnegative.assign(dims.size(), true);
    test::expect_recovery(dims, options, 5, [](const test::Decomposed& result) {
      for (const auto& factor : result.model.factors)
        for (const double x : factor.flat()) ASSERT_GE(x, 0);
    });
  }
}

TEST(CpAls, without_negative_entries_never_loses_fit_and_says_the_fit_of_its_model) {
  for (const std::vector<bool>& nonnegative :
       {std::vector<bool>{true, true, true}, {true, false, false}, {false, true, false}, {true, true, false}})
    for (const Index n : {1, 4, 37}) {
      const auto x = test::tame_tensor({12, 9, 7}, 200, 3, true);
      auto options = options_for(n, 20);
      options.als.nonnegative = nonnegative;
      const auto reference = decompose(x, options);
      for (std::size_t i = 1; i < reference.fits.size(); ++i)
        EXPECT_GE(reference.fits[i], reference.fits[i - 1] - 1e-9);
      EXPECT_NEAR(squared(1 - reference.fit()), squared(1 - plain_fit(x, reference.model)), 1e-11);
      for (int m = 0; m < 3; ++m)
        for (const double entry : reference.model.factors[m].flat())
          EXPECT_TRUE(!nonnegative[m] || entry >= 0);
      for (const auto& format : format_names())
        for (const int threads : {1, 6}) {
          const test::Threads set(threads);
          options.format = format;
          EXPECT_NEAR(decompose(x, options).fit(), reference.fit(), 1e-6) << format;
        }
    }
}

TEST(CpAls, does_not_lose_fit_when_there_are_more_components_than_the_data_supports) {
  SparseTensor<double> x({20, 18, 15});  // dense, of rank two
  for (Index i = 0; i < 20; ++i)
    for (Index j = 0; j < 18; ++j)
      for (Index k = 0; k < 15; ++k) {
        double value = 0;
        for (std::uint64_t r = 0; r < 2; ++r)
          value += Random(r, 1).uniform(std::uint64_t(i)) * Random(r, 2).uniform(std::uint64_t(j)) *
                   Random(r, 3).uniform(std::uint64_t(k));
        x.append(std::vector<Index>{i, j, k}, value);
      }
  for (const Index n : {4, 8, 16, 37}) {
    const auto single = decompose<float>(x, options_for(n, 30)), both = decompose(x, options_for(n, 30));
    double best = -1;
    for (const double fit : single.fits) {
      EXPECT_GT(fit, best - 1e-3) << n;
      best = std::max(best, fit);
    }
    EXPECT_GT(single.fit(), 0.999) << n;
    EXPECT_GT(both.fit(), 0.99999) << n;
  }
}

// A decomposition in two parts, the second of which starts where the first ends.
std::vector<double> fits_in_two_parts(const SparseTensor<double>& x, CpRunOptions options, int first) {
  Progress silent;
  const auto prepared = prepare<double>(Comm::self(), x, options, silent);
  auto als = options.als;
  als.max_iterations = first;
  const auto begin = cp_als<double>(prepared.tensor, prepared.chosen.plan, als);
  als.max_iterations = options.als.max_iterations - first;
  als.seed = 12345;  // does not matter any more
  const auto end = cp_als<double>(prepared.tensor, prepared.chosen.plan, als, {}, &begin.model);
  auto fits = begin.fit_trajectory;
  fits.insert(fits.end(), end.fit_trajectory.begin(), end.fit_trajectory.end());
  return fits;
}

TEST(CpAls, goes_on_from_a_model_as_if_it_had_never_stopped) {
  for (const std::vector<Index>& dims : {std::vector<Index>{60, 80}, {40, 30, 50}, {20, 9, 30, 7}})
    for (const Index n : {1, 5, 17})
      for (const auto& format : format_names()) {
        const auto x = test::tame_tensor(dims, 1200, 2);
        auto options = options_for(n, 10);
        options.format = format;
        expect_same_trajectory(fits_in_two_parts(x, options, 4), decompose(x, options).fits, format);
      }
}

TEST(CpAls, goes_on_without_negative_entries) {
  const auto x = test::tame_tensor({40, 30, 50}, 1200, 2);
  auto options = options_for(5, 10);
  options.als.nonnegative = {true, false, true};
  const auto whole = decompose(x, options).fits, parts = fits_in_two_parts(x, options, 4);
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(parts[i], whole[i], 1e-6);
}

TEST(CpAls, stays_at_a_model_that_has_converged) {
  auto x = generate_planted({.dims = {30, 25, 20}, .num_nonzeros = 3000, .num_components = 3, .noise = 0.1})
               .tensor;
  for (const double unit : {1.0, 1e150}) {
    for (double& value : x.values()) value *= unit;
    Progress silent;
    const auto options = options_for(3, 2000, 1e-15);
    const auto prepared = prepare<double>(Comm::self(), x, options, silent);
    const auto converged = cp_als<double>(prepared.tensor, prepared.chosen.plan, options.als);

    const auto again =
        cp_als<double>(prepared.tensor, prepared.chosen.plan, options_for(3, 3).als, {}, &converged.model);

    EXPECT_NEAR(again.fit_trajectory.front(), converged.fit(), 1e-12);
    EXPECT_NEAR(kernels::factor_match_score(again.model, converged.model), 1, 1e-9);
    for (std::size_t r = 0; r < 3; ++r)
      EXPECT_NEAR(again.model.weights[r] / converged.model.weights[r], 1, 1e-6);
  }
}

}  // namespace
}  // namespace polyad
