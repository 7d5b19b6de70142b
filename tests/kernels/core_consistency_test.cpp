#include "polyad/kernels/analysis/core_consistency.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "polyad/kernels/cp/normal_equations.hpp"
#include "polyad/kernels/cp/row_update.hpp"
#include "polyad/tensor/sort.hpp"
#include "tests/support/decomposed.hpp"
#include "tests/support/dense_planted.hpp"

namespace polyad::kernels {
namespace {

using test::dense_tensor;
using test::random_model;

CompactTensor<double> sorted(const SparseTensor<double>& x, std::span<const int> mode_order) {
  auto result = compact<double>(x);
  sort_nonzeros(result.tensor, mode_order);
  return result;
}

std::optional<double> consistency(const SparseTensor<double>& x, const Kruskal<double>& model) {
  const auto natural = natural_mode_order(x.order());
  return core_consistency(sorted(x, natural), natural, model);
}

// G(r_1, ...) = sum over nonzeros of the value times the entries of all pseudo-inverses; natural mode order.
Array<double> naive_core(const CompactTensor<double>& x, const Kruskal<double>& model) {
  const Index n = model.num_components();
  std::vector<Matrix<double>> inverses;
  for (int m = 0; m < model.order(); ++m) {
    const auto& a = model.factors[m];
    const auto inverse = pseudo_inverse(gram(a, a.num_rows()));
    auto& p = inverses.emplace_back(a.num_rows(), n);
    for (Index i = 0; i < a.num_rows(); ++i)
      for (Index r = 0; r < n; ++r)
        for (Index k = 0; k < n; ++k) p(i, r) += a(i, k) * inverse(k, r);
  }
  Array<double> core;
  test::for_each_cell(std::vector<Index>(model.factors.size(), n), [&](const std::vector<Index>& r) {
    double sum = 0;
    for (Index z = 0; z < x.tensor.num_nonzeros(); ++z) {
      double product = x.tensor.values()[z] * x.value_scale / model.weights[r[0]];
      for (int m = 0; m < model.order(); ++m) product *= inverses[m](x.tensor.indices(m)[z], r[m]);
      sum += product;
    }
    core.push_back(sum);
  });
  return core;
}

double naive_consistency(Array<double> core, Index n, int order) {
  Index at = 0;
  std::vector<Index> extents(std::size_t(order), n);
  double squares = 0;
  test::for_each_cell(extents, [&](const std::vector<Index>& r) {
    const bool is_diagonal = std::ranges::all_of(r, [&](Index k) { return k == r[0]; });
    const double difference = core[at++] - (is_diagonal ? 1 : 0);
    squares += difference * difference;
  });
  return 100 * (1 - squares / double(n));
}

TEST(CoreConsistency, is_that_of_the_naive_core_for_any_order_and_number_of_threads) {
  for (const std::vector<Index>& dims :
       {std::vector<Index>{9, 7}, {1, 6}, {6, 5, 4}, {7, 1, 5}, {5, 4, 3, 4}, {3, 4, 3, 2, 4}})
    for (const Index nonzeros : {1, 9, 60})
      for (const Index n : {1, 2, 4})
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
          const auto x = test::tame_tensor(dims, nonzeros, seed);
          const auto natural = natural_mode_order(x.order());
          const auto compacted = sorted(x, natural);
          const auto model = random_model(compacted.tensor.extents(), n, seed);
          const auto oracle = naive_core(compacted, model);
          double scale = 1;
          for (const double entry : oracle) scale = std::max(scale, std::abs(entry));
          const double expected = naive_consistency(oracle, n, x.order());
          for (const int threads : {1, 4}) {
            const test::Threads set(threads);
            const auto core = tucker_core(compacted, natural, model);
            ASSERT_EQ(core.size(), oracle.size());
            for (std::size_t k = 0; k < core.size(); ++k) ASSERT_NEAR(core[k], oracle[k], 1e-8 * scale);
            auto order = natural;
            for (int turn = 0; turn < 2; ++turn, std::ranges::reverse(order)) {
              const double value = *core_consistency(sorted(x, order), order, model);
              ASSERT_NEAR(value, expected, 1e-7 * std::max(1.0, std::abs(expected)));
            }
          }
        }
}

TEST(CoreConsistency, is_100_for_the_model_that_made_the_tensor) {
  for (const std::vector<Index>& dims : {std::vector<Index>{9, 8}, {8, 7, 6}, {6, 5, 6, 5}, {5, 4, 5, 4, 5}})
    for (const Index n : {1, 2, 4})
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const auto model = random_model(dims, n, seed);
        EXPECT_NEAR(*consistency(dense_tensor(dims, model), model), 100, 1e-6);
      }
}

TEST(CoreConsistency, is_low_when_there_are_too_many_components) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const std::vector<Index> dims{9, 8, 7};
    const auto x = dense_tensor(dims, random_model(dims, 2, seed), 0.02, seed);
    const auto enough = test::decompose(x, test::options_for(2, 500, 1e-10));
    const auto many = test::decompose(x, test::options_for(4, 500, 1e-10));
    EXPECT_GT(*consistency(x, enough.model), 95);
    EXPECT_LT(*consistency(x, many.model), 50);
  }
}

TEST(CoreConsistency, does_not_depend_on_the_unit_of_the_values) {
  const auto model = random_model({7, 6, 5}, 3, 1);
  const auto x = dense_tensor({7, 6, 5}, model, 0.1);
  for (const double unit : {1e-200, 1e-3, 1e200}) {
    auto scaled = x;
    for (double& value : scaled.values()) value *= unit;
    auto scaled_model = model;
    for (double& weight : scaled_model.weights) weight *= unit;
    EXPECT_NEAR(*consistency(scaled, scaled_model), *consistency(x, model), 1e-8);
  }
}

TEST(CoreConsistency, counts_a_component_that_vanished_as_missing) {
  const auto model = random_model({7, 6, 5}, 2, 3);
  auto padded = random_model({7, 6, 5}, 3, 3);
  for (int m = 0; m < 3; ++m)
    for (Index row = 0; row < model.factors[m].num_rows(); ++row)
      for (Index r = 0; r < 3; ++r) padded.factors[m](row, r) = r < 2 ? model.factors[m](row, r) : 0;
  padded.weights = {model.weights[0], model.weights[1], 0};

  EXPECT_NEAR(*consistency(dense_tensor({7, 6, 5}, model), padded), 100 * (1 - 1.0 / 3), 1e-6);
}

TEST(CoreConsistency, is_absent_where_the_core_would_be_too_large) {
  EXPECT_EQ(num_core_entries(64, 4), max_core_entries);
  EXPECT_EQ(num_core_entries(65, 4), std::nullopt);
  EXPECT_EQ(num_core_entries(100000, 16), std::nullopt);
  EXPECT_EQ(num_core_entries(1, 16), 1);
  const std::vector<Index> dims(16, 1);
  EXPECT_EQ(consistency(dense_tensor(dims, random_model(dims, 3, 1)), random_model(dims, 3, 1)),
            std::nullopt);
}

}  // namespace
}  // namespace polyad::kernels
