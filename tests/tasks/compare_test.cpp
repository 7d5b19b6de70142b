#include "polyad/tasks/compare.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "polyad/kernels/analysis/factor_match.hpp"
#include "polyad/tasks/decompose.hpp"
#include "polyad/tasks/load_model.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/kruskal_samples.hpp"
#include "tests/support/shares.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad {
namespace {

CpModel decomposed(const Context& context, const SparseTensor<double>& x, Index rank, std::uint64_t seed) {
  return decompose(context, make_tensor(test::share_of(x, context.comm())),
                   {.rank = rank, .max_iterations = 5, .tolerance = 0, .seed = seed});
}

double cosine(const Matrix<double>& a, Index i, const Matrix<double>& b, Index j) {
  double product = 0, left = 0, right = 0;
  for (Index row = 0; row < a.num_rows(); ++row) {
    product += a(row, i) * b(row, j);
    left += a(row, i) * a(row, i);
    right += b(row, j) * b(row, j);
  }
  return product / std::sqrt(left * right);
}

// Each pair is the best of those that are left, by the definition of the congruence.
void expect_greedy(const CpModel& a, const CpModel& b, const Comparison& result) {
  std::vector<Index> left, right;
  for (Index r = 0; r < a.rank(); ++r) left.push_back(r);
  for (Index r = 0; r < b.rank(); ++r) right.push_back(r);
  std::vector<Matrix<double>> of_a, of_b;
  for (int m = 0; m < a.order(); ++m) {
    of_a.push_back(a.factor(m));
    of_b.push_back(b.factor(m));
  }
  const auto congruence = [&](Index i, Index j) {
    double product = 1;
    for (int m = 0; m < a.order(); ++m) product *= std::abs(cosine(of_a[m], i, of_b[m], j));
    return product;
  };
  double sum = 0;
  ASSERT_EQ(std::ssize(result.pairs()), std::min(a.rank(), b.rank()));
  for (const auto& pair : result.pairs()) {
    double best = 0;
    for (const Index i : left)
      for (const Index j : right) best = std::max(best, congruence(i, j));
    EXPECT_NEAR(pair.congruence, best, 1e-10);
    EXPECT_NEAR(pair.congruence, congruence(pair.first, pair.second), 1e-10);
    for (int m = 0; m < a.order(); ++m)
      EXPECT_NEAR(pair.cosines[m], cosine(of_a[m], pair.first, of_b[m], pair.second), 1e-10);
    EXPECT_EQ(std::erase(left, pair.first), 1);
    EXPECT_EQ(std::erase(right, pair.second), 1);
    sum += best;
  }
  EXPECT_NEAR(result.score(), sum / double(result.pairs().size()), 1e-10);
}

TEST(Compare, PairsTheMostAlike) {
  const Context context(Comm::world());
  const auto x = test::tame_tensor({20, 15, 10}, 400, 7);
  const auto a = decomposed(context, x, 4, 1);
  for (const Index rank : {1, 4, 6}) {
    const auto b = decomposed(context, x, rank, 2);
    expect_greedy(a, b, compare(context, a, b));
    EXPECT_NEAR(compare(context, a, b).score(), compare(context, b, a).score(), 1e-12);
  }
  const auto same = compare(context, a, a);
  EXPECT_NEAR(same.score(), 1, 1e-12);
  for (const auto& pair : same.pairs()) EXPECT_EQ(pair.first, pair.second);
}

CpModel stored(const Context& context, const test::TemporaryFolder& folder, const Kruskal<double>& k) {
  static int number = 0;
  const auto path = folder / ("m" + std::to_string(++number) + ".ktensor");
  io::write_kruskal(path, k, io::KruskalFormat::ktensor);
  return load_model(context, path);
}

TEST(Compare, IgnoresOrderSignsAndScale) {
  const auto context = Context::serial();
  const test::TemporaryFolder folder;
  const Kruskal<double> k{{5, 3}, {test::matrix(2, {1, 0, 0, 1}), test::matrix(3, {1, 1, 2, 0, 0, 1})}};
  const Kruskal<double> other{
      {1, 9}, {test::matrix(2, {0, -2e250, 1e-200, 0}), test::matrix(3, {7, -1, 0, -2, 7, 0})}};
  const auto result = compare(context, stored(context, folder, k), stored(context, folder, other));
  EXPECT_NEAR(result.score(), 1, 1e-12);
  EXPECT_EQ(result.pairs()[0].first, 1 - result.pairs()[0].second);
  const auto json = nlohmann::json::parse(result.json());
  EXPECT_EQ(json["pairs"].size(), 2);
  EXPECT_EQ(json["dims"], (std::vector<Index>{2, 3}));
  EXPECT_EQ(json["first"]["weights"], (std::vector<double>{5, 3}));
}

TEST(Compare, NamesComponentsWithoutAPartner) {
  const auto context = Context::serial();
  const test::TemporaryFolder folder;
  const Kruskal<double> one{{1}, {test::matrix(2, {0, 1}), test::matrix(2, {0, 1})}};
  const Kruskal<double> two{{1, 1}, {test::matrix(2, {1, 0, 0, 1}), test::matrix(2, {1, 0, 0, 1})}};
  const auto result = compare(context, stored(context, folder, one), stored(context, folder, two));
  EXPECT_EQ(result.score(), 1);
  EXPECT_TRUE(result.summary().ends_with("components of the second model without a partner: 1"))
      << result.summary();
  EXPECT_EQ(nlohmann::json::parse(result.json())["unmatched"]["second"], std::vector<Index>{1});
  const Kruskal<double> zero{{1}, {test::matrix(2, {0, 0}), test::matrix(2, {0, 1})}};
  EXPECT_EQ(compare(context, stored(context, folder, zero), stored(context, folder, two)).score(), 0);
}

TEST(Compare, RefusesModelsOfOtherDims) {
  const auto context = Context::serial();
  const test::TemporaryFolder folder;
  const auto a = stored(context, folder, {{1}, {test::matrix(2, {0, 1}), test::matrix(2, {0, 1})}});
  const auto b = stored(context, folder, {{1}, {test::matrix(2, {0, 1}), test::matrix(3, {0, 1, 1})}});
  try {
    compare(context, a, b);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_input);
    EXPECT_EQ(error.message(),
              "has dims 2x3, the first model has 2x2; expected two models of the same tensor");
  }
}

}  // namespace
}  // namespace polyad
