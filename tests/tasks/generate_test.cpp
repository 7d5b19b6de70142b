#include "polyad/tasks/generate.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "polyad/io/models/kruskal.hpp"
#include "polyad/tasks/load.hpp"
#include "tests/support/kruskal_samples.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad {
namespace {

SkewedOptions skewed() {
  return {.dims = {40, 30, 5}, .num_nonzeros = 200, .seed = 3};
}
PlantedOptions planted() {
  return {.dims = {20, 15, 10}, .num_nonzeros = 400, .num_components = 3, .noise = 0.1, .seed = 5};
}
RatingsOptions ratings() {
  return {.num_users = 50, .num_items = 20, .num_ratings = 300, .test_fraction = 0.2};
}

TEST(Generate, GivesTheNonzerosToProcess0) {
  const Context context(Comm::world());
  const bool is_first = context.comm().rank() == 0;
  const auto x = generate(context, skewed());
  EXPECT_EQ(x.tensor.extents(), skewed().dims);
  if (is_first)
    EXPECT_EQ(x.tensor, generate_skewed(skewed()));
  else
    EXPECT_EQ(x.tensor.num_nonzeros(), 0);

  const auto made = generate(context, planted());
  const auto expected = generate_planted(planted());
  if (is_first) {
    EXPECT_EQ(made.tensor.tensor, expected.tensor);
  }
  EXPECT_EQ(made.truth.weights(), expected.truth.weights);
  for (int m = 0; m < 3; ++m) EXPECT_EQ(made.truth.factor(m), expected.truth.factors[m]);

  const auto rated = generate(context, ratings());
  EXPECT_EQ(context.comm().all_reduce(rated.train.tensor.num_nonzeros() + rated.test.tensor.num_nonzeros()),
            300);
  EXPECT_EQ(rated.noise_floor, generate_ratings(ratings()).noise_floor);
  EXPECT_THROW(generate(context, SkewedOptions{.dims = {2, 2}, .num_nonzeros = 5}), Error);
}

TEST(GenerateFile, WritesWhatGenerateReturns) {
  const auto context = Context::serial();
  const test::TemporaryFolder folder;
  const auto first = generate_file(context, skewed(), folder / "x.tns.gz", "zipf");
  EXPECT_EQ(first.files(), std::vector{folder / "x.tns.gz"});
  EXPECT_EQ(load(context, folder / "x.tns.gz", {.dims = skewed().dims}).tensor, generate_skewed(skewed()));
  const auto json = nlohmann::json::parse(first.json());
  EXPECT_EQ(json["kind"], "zipf");
  EXPECT_EQ(json["seed"], 3);
  EXPECT_EQ(json["nnz"], 200);

  const auto second = generate_file(context, planted(), folder / "p.tns", "planted");
  EXPECT_EQ(second.files(), (std::vector{folder / "p.tns", folder / "p-truth.ktensor"}));
  EXPECT_TRUE(
      test::same_bits(io::read_kruskal(folder / "p-truth.ktensor"), generate_planted(planted()).truth));

  const auto third = generate_file(context, ratings(), folder / "r.tns.gz", "ratings");
  EXPECT_EQ(third.files(), (std::vector{folder / "r.tns.gz", folder / "r-test.tns.gz"}));
  auto without_test = ratings();
  without_test.test_fraction = 0;
  EXPECT_TRUE(generated_beside(without_test, "r.tns").empty());
}

TEST(GenerateFile, RefusesNamesAndLabelsOfOthers) {
  const auto context = Context::serial();
  const test::TemporaryFolder folder;
  EXPECT_THROW(generate_file(context, skewed(), folder / "x.doc", "zipf"), Error);
  folder.write("x.mode-1-who.map", "ann\n");
  EXPECT_THROW(generate_file(context, skewed(), folder / "x.tns", "zipf"), Error);
  EXPECT_EQ(test::names_in((folder / "x").parent_path()), std::vector<std::string>{"x.mode-1-who.map"});
}

}  // namespace
}  // namespace polyad
