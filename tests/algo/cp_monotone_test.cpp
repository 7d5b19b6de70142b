// The fit never falls, whatever the number of components.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/decomposed.hpp"
#include "tests/support/overfactored.hpp"

namespace polyad {
namespace {

using test::largest_rise;
using test::Overfactored;

// By the fits that are reported, to within the rounding of their own sums; where these tell more, by the
// models.
void expect_no_rise(const SparseTensor<double>& x, const CpRunOptions& options,
                    const std::vector<double>& fits) {
  constexpr double bound = 1e-12;
  EXPECT_LE(largest_rise(fits), 10 * bound) << options.format;
  if (largest_rise(fits) > bound) {
    EXPECT_LE(test::largest_true_rise(x, options), bound) << options.format;
  }
}

TEST(CpAls, never_loses_fit_with_more_components_than_needed) {
  const auto& formats = format_names();
  int num_ill = 0;
  for (int n = 0; n < 1000; ++n) {
    const Overfactored c(n);
    SCOPED_TRACE(c.describe());
    auto options = c.options;
    options.format = formats[n % formats.size()];
    const test::Threads one(1);
    const auto reference = test::decompose(c.tensor, c.options);
    const test::Threads some(n % 10 == 0 ? 2 + n / 10 % 2 : 1);

    const auto result = test::decompose(c.tensor, options);

    expect_no_rise(c.tensor, c.options, reference.fits);
    expect_no_rise(c.tensor, options, result.fits);
    const bool is_ill = std::max(reference.max_condition, result.max_condition) >= 1e10;
    num_ill += is_ill ? 1 : 0;
    if (!is_ill) {
      EXPECT_LE(test::largest_difference(reference.fits, result.fits), 1e-10) << options.format;
    }
  }
  EXPECT_GT(num_ill, 100) << "the cases are too easy";
  EXPECT_LT(num_ill, 900) << "the cases are too hard to compare";
}

TEST(CpAls, never_loses_fit_in_single_precision) {
  const auto& formats = format_names();
  const test::Threads one(1);
  for (int n = 0; n < 300; ++n) {
    const Overfactored c(n);
    SCOPED_TRACE(c.describe());
    auto options = c.options;
    options.format = formats[n % formats.size()];

    EXPECT_LE(largest_rise(test::decompose<float>(c.tensor, options).fits), 1e-5) << options.format;
  }
}

TEST(CpAls, never_loses_fit_where_factors_must_not_be_negative) {
  const test::Threads one(1);
  for (int n = 0; n < 200; ++n) {
    const Overfactored c(n);
    SCOPED_TRACE(c.describe());
    auto options = c.options;
    options.als.nonnegative.assign(std::size_t(c.tensor.order()), true);
    if (n % 2 == 1) options.als.nonnegative[n / 2 % c.tensor.order()] = false;

    EXPECT_LE(largest_rise(test::decompose(c.tensor, options).fits), 1e-12);
    EXPECT_LE(largest_rise(test::decompose<float>(c.tensor, options).fits), 1e-5);
  }
}

TEST(CpOpt, ends_where_its_fit_is_best) {
  const test::Threads one(1);
  for (int n = 0; n < 100; ++n) {
    const Overfactored c(n);
    SCOPED_TRACE(c.describe());
    auto options = c.options;
    options.method = Method::opt;

    EXPECT_LE(largest_rise(test::decompose(c.tensor, options).fits), 1e-12);
    EXPECT_LE(largest_rise(test::decompose<float>(c.tensor, options).fits), 1e-5);
  }
}

// A method whose fits are given.
struct Scripted {
  std::vector<double> fits;
  std::size_t next = 0;
  int begun = 0;

  CpMethod<double> method() {
    return {[this] {
              next = 0;
              ++begun;
            },
            [this] { return Iteration{.fit = fits[next++], .rounding = 1e-6}; }};
  }
};

TEST(Iterate, returns_to_the_best_iteration_when_the_fit_fell) {
  Scripted falls{{0.1, 0.5, 0.7, 0.6, 0.65}};
  CpResult<double> result;

  iterate(result, {.max_iterations = 5, .tolerance = 0}, {}, falls.method());

  EXPECT_EQ(falls.begun, 1);
  EXPECT_EQ(falls.next, 3) << "the method is left at its best iteration";
  EXPECT_EQ(result.model_iteration, 3);
  EXPECT_EQ(result.fit(), 0.7);
  EXPECT_EQ(result.iterations(), 5);
}

TEST(Iterate, takes_no_notice_of_rounding) {
  Scripted rounds{{0.1, 0.5, 0.7, 0.7 - 1e-7}};
  CpResult<double> result;

  iterate(result, {.max_iterations = 4, .tolerance = 0}, {}, rounds.method());

  EXPECT_EQ(rounds.begun, 0);
  EXPECT_EQ(result.model_iteration, 4);
  EXPECT_EQ(result.fit(), 0.7 - 1e-7);
}

}  // namespace
}  // namespace polyad
