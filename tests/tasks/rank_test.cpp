#include "polyad/tasks/rank.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "polyad/algo/analysis/component_sweep.hpp"
#include "polyad/tasks/load.hpp"
#include "polyad/tensor/generate/generate.hpp"

namespace polyad {
namespace {

SparseTensor<double> planted() {
  return generate_planted(
             {.dims = {30, 25, 20}, .num_nonzeros = 1500, .num_components = 2, .noise = 0.05, .seed = 2})
      .tensor;
}

TEST(ChooseRank, EqualsTheSweepBelow) {
  std::vector<Index> seen;
  RankOptions options{.ranks = {1, 2, 3}, .num_starts = 2, .held_out = 0.1, .max_iterations = 30, .seed = 4};
  options.observer = [&](const CountEvidence& evidence) { seen.push_back(evidence.num_components); };
  const auto result = choose_rank(Context::serial(), make_tensor(planted()), options);

  ComponentSweepOptions sweep;
  sweep.component_counts = {1, 2, 3};
  sweep.num_starts = 2;
  sweep.held_out = 0.1;
  sweep.decompose.als.max_iterations = 30;
  sweep.decompose.als.seed = 4;
  Progress silent;
  const auto expected = sweep_components<double>(Comm::self(), planted(), sweep, silent);
  EXPECT_EQ(seen, options.ranks);
  EXPECT_EQ(result.rank(), expected.recommendation.num_components);
  EXPECT_EQ(result.reason(), expected.recommendation.reason);
  ASSERT_EQ(result.evidence().size(), 3);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(result.evidence()[i].fits, expected.evidence[i].fits);
    EXPECT_EQ(result.evidence()[i].held_out_errors, expected.evidence[i].held_out_errors);
    EXPECT_EQ(result.evidence()[i].stability, expected.evidence[i].stability);
  }
  EXPECT_EQ(result.rank(), 2);
  const auto json = nlohmann::json::parse(result.json());
  EXPECT_EQ(json["recommended"], 2);
  EXPECT_EQ(json["counts"].size(), 3);
  EXPECT_TRUE(result.summary().starts_with("recommended: 2 components: ")) << result.summary();
}

TEST(ChooseRank, TakesPrecisionFormatAndSigns) {
  const auto result = choose_rank(Context::serial(), make_tensor(planted()),
                                  {.ranks = {2},
                                   .num_starts = 1,
                                   .held_out = 0,
                                   .max_iterations = 5,
                                   .nonnegative_modes = {0, 2},
                                   .precision = Precision::float32,
                                   .format = StorageFormat::coo});
  const auto json = nlohmann::json::parse(result.json());
  EXPECT_EQ(json["precision"], "single");
  EXPECT_EQ(json["nonneg"], (std::vector<int>{1, 3}));
  EXPECT_EQ(result.evidence()[0].format, "coo");
}

std::pair<std::string, std::string> fault_of(const RankOptions& options) {
  try {
    choose_rank(Context::serial(), make_tensor(planted()), options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_option);
    return {error.option(), error.what()};
  }
  return {};
}

TEST(ChooseRank, NamesTheOptionAtFault) {
  using Fault = std::pair<std::string, std::string>;
  EXPECT_EQ(fault_of({.ranks = {2, 1}}),
            Fault("ranks", "ranks: expected ascending numbers from 1 to 100000"));
  EXPECT_EQ(fault_of({.ranks = {0}}), Fault("ranks", "ranks: expected ascending numbers from 1 to 100000"));
  EXPECT_EQ(fault_of({.num_starts = 0}),
            Fault("num_starts", "num_starts 0: expected a number from 1 to 1000"));
  EXPECT_EQ(fault_of({.held_out = 0.6}),
            Fault("held_out", "held_out 0.6: expected a fraction from 0 to 0.5"));
  EXPECT_EQ(fault_of({.max_iterations = 0}), Fault("max_iterations", "max_iterations 0: expected 1 or more"));
  EXPECT_EQ(fault_of({.tolerance = -1}), Fault("tolerance", "tolerance -1: expected 0 or more"));
  EXPECT_EQ(
      fault_of({.nonnegative_modes = {3}}),
      Fault("nonnegative_modes", "nonnegative_modes: mode 3 does not exist; the 3 modes are counted from 0"));
}

}  // namespace
}  // namespace polyad
