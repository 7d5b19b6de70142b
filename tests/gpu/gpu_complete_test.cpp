// Models of ratings by least squares on a GPU against the processor: on the GPU of the machine in a build
// with CUDA, else on an emulated one.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "polyad/tasks/complete.hpp"
#include "tests/support/completed.hpp"
#include "tests/support/gpu_cases.hpp"
#include "tests/support/shares.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad {
namespace {

using GpuComplete = test::GpuAls;
using test::PlainModel;

constexpr Device on_cpu{Device::Kind::cpu}, on_first_gpu{Device::Kind::gpu, 0};

CompletionModel train(const SparseTensor<double>& ratings, CompleteOptions options, const Device& device) {
  const Context context(Comm::world());
  options.device = device;
  return complete(context, make_tensor(test::share_of(ratings, context.comm())), options);
}

nlohmann::json json_of(const CompletionModel& model) {
  return nlohmann::json::parse(model.json());
}

std::string name_of_gpu() {
  return "gpu 0: " + gpu::list_devices().gpus.front().name;
}

// Relative to the largest of the entries.
template <class Entries>
void expect_near(const Entries& entries, const Entries& expected, double tolerance) {
  ASSERT_EQ(entries.size(), expected.size());
  double largest = 1, farthest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    farthest = std::max(farthest, std::abs(entries[i] - expected[i]));
  }
  EXPECT_LE(farthest, tolerance * largest);
}

void expect_same_model(const CompletionModel& model, const CompletionModel& expected, double tolerance) {
  ASSERT_EQ(model.epochs().size(), expected.epochs().size());
  for (std::size_t e = 0; e < expected.epochs().size(); ++e) {
    const auto &there = model.epochs()[e], &here = expected.epochs()[e];
    EXPECT_NEAR(there.loss, here.loss, tolerance * std::abs(here.loss)) << e;
    ASSERT_EQ(there.test.has_value(), here.test.has_value());
    if (!here.test) continue;
    EXPECT_NEAR(there.test->rmse, here.test->rmse, tolerance * here.test->rmse) << e;
  }
  const PlainModel there(model), here(expected);
  expect_near(there.users.flat(), here.users.flat(), tolerance);
  expect_near(there.items.flat(), here.items.flat(), tolerance);
  expect_near(there.user_biases, here.user_biases, tolerance);
  expect_near(there.item_biases, here.item_biases, tolerance);
}

enum class Way { ratings, without_biases, implicit };

CompleteOptions options_for(Way way, Index factors) {
  CompleteOptions options;
  options.method = CompletionMethod::als;
  options.solver = RowSolver::cholesky;
  options.implicit = way == Way::implicit;
  options.no_bias = way == Way::without_biases;
  options.factors = factors;
  options.max_epochs = 4;
  options.patience = 0;
  options.lists = way == Way::implicit ? ListsBy::automatic : ListsBy::ratings;
  options.precision = Precision::float64;
  options.test = {.kind = TestRatings::Kind::fraction, .fraction = 0.1};
  return options;
}

// One process may have no user or no item, and many users have fewer ratings than factors.
TEST_F(GpuComplete, learns_the_model_of_the_processor) {
  struct Shape {
    Index users, items, ratings;
  };
  std::uint64_t seed = 0;
  for (const auto& shape : {Shape{3, 2, 5}, Shape{60, 40, 900}, Shape{300, 7, 900}, Shape{9, 500, 2000}})
    for (const auto way : {Way::ratings, Way::without_biases, Way::implicit})
      for (const Index factors : {1, 6, 37}) {
        SCOPED_TRACE(std::to_string(shape.users) + " users, way " + std::to_string(int(way)) + ", " +
                     std::to_string(factors) + " factors");
        const auto ratings = test::structured_ratings(shape.users, shape.items, shape.ratings, ++seed);
        const auto options = options_for(way, factors);
        const auto there = train(ratings, options, on_first_gpu);
        expect_same_model(there, train(ratings, options, on_cpu), 1e-8);
        EXPECT_EQ(json_of(there)["device"], name_of_gpu());
      }
}

TEST_F(GpuComplete, learns_the_model_of_the_processor_in_single_precision) {
  for (const auto way : {Way::ratings, Way::without_biases, Way::implicit}) {
    auto options = options_for(way, 5);
    options.precision = Precision::float32;
    const auto ratings = test::structured_ratings(80, 60, 1500, 7);
    expect_same_model(train(ratings, options, on_first_gpu), train(ratings, options, on_cpu), 2e-3);
  }
}

TEST_F(GpuComplete, learns_from_counts_zeros_and_dislikes) {
  auto ratings = test::structured_ratings(50, 30, 600, 3);
  for (Index z = 0; z < ratings.num_nonzeros(); ++z)
    ratings.values()[z] = double(z % 5) - 1 + (z % 7 == 0 ? 40 : 0);
  auto options = options_for(Way::implicit, 6);
  options.alpha = 20;
  expect_same_model(train(ratings, options, on_first_gpu), train(ratings, options, on_cpu), 1e-8);
}

// With many factors the processor takes conjugate gradients, unless it is told otherwise.
TEST_F(GpuComplete, solves_for_many_factors_exactly) {
  const auto ratings = test::structured_ratings(60, 40, 900, 5);
  for (const auto way : {Way::ratings, Way::implicit}) {
    auto options = options_for(way, CompleteOptions::cg_from_factors);
    options.max_epochs = 2;
    const auto expected = train(ratings, options, on_cpu);
    options.solver = RowSolver::automatic;
    const auto there = train(ratings, options, on_first_gpu);
    expect_same_model(there, expected, 1e-7);
    EXPECT_EQ(json_of(there)["solver"], "cholesky");
    EXPECT_EQ(json_of(train(ratings, options, on_cpu))["solver"], "cg");
  }
}

// The settings of lists are compared on the GPU, too.
TEST_F(GpuComplete, trains_the_model_for_lists_with_the_settings_of_the_processor) {
  for (const Index count : {Index(900), Index(24000)}) {
    auto options = options_for(Way::ratings, 2);
    options.lists = ListsBy::ranking;
    options.max_epochs = 3;
    const auto ratings = test::structured_ratings(900, 300, count, 5);
    const auto there = json_of(train(ratings, options, on_first_gpu));
    const auto here = json_of(train(ratings, options, on_cpu));
    EXPECT_EQ(there["list_model"]["device"], name_of_gpu());
    EXPECT_EQ(here["list_model"]["device"], "cpu");
    EXPECT_EQ(there.contains("list_trials"), count > 20000);
    EXPECT_EQ(there["list_model"]["regularisation"], here["list_model"]["regularisation"]);
    EXPECT_EQ(there["list_model"]["popularity"], here["list_model"]["popularity"]);
    EXPECT_EQ(there["list_model"]["sweeps"], here["list_model"]["sweeps"]);
    EXPECT_NEAR(there["ranking"]["ndcg"].get<double>(), here["ranking"]["ndcg"].get<double>(), 1e-9);
  }
}

TEST_F(GpuComplete, gives_the_same_bits_when_it_runs_twice) {
  const auto ratings = test::structured_ratings(200, 90, 4000, 8);
  for (const auto way : {Way::ratings, Way::implicit}) {
    const auto options = options_for(way, 9);
    const PlainModel a(train(ratings, options, on_first_gpu)), b(train(ratings, options, on_first_gpu));
    EXPECT_EQ(a.users, b.users);
    EXPECT_EQ(a.items, b.items);
    EXPECT_EQ(a.user_biases, b.user_biases);
    EXPECT_EQ(a.item_biases, b.item_biases);
  }
}

TEST_F(GpuComplete, goes_on_from_a_checkpoint_of_the_processor) {
  const test::TemporaryFolder mine;
  const auto ratings = test::structured_ratings(60, 40, 900, 6);
  auto options = options_for(Way::ratings, 5);
  options.max_epochs = 7;
  const auto expected = train(ratings, options, on_cpu);
  options.max_epochs = 3;
  options.checkpoint = CheckpointOptions{.directory = test::shared(Comm::world(), mine / "states")};
  train(ratings, options, on_cpu);
  options.max_epochs = 7;
  expect_same_model(train(ratings, options, on_first_gpu), expected, 1e-8);
}

TEST_F(GpuComplete, refuses_what_a_gpu_does_not_do) {
  const auto ratings = test::structured_ratings(20, 10, 90, 1);
  const auto refused = [&](auto change, const Device& device = on_first_gpu) {
    auto options = options_for(Way::ratings, 4);
    change(options);
    EXPECT_THROW(train(ratings, options, device), Error);
  };
  refused([](CompleteOptions& x) { x.method = CompletionMethod::sgd, x.solver = RowSolver::automatic; });
  refused([](CompleteOptions& x) { x.solver = RowSolver::cg; });
  refused([](CompleteOptions& x) { x.factors = 128; });
  refused([](const CompleteOptions&) {}, Device{Device::Kind::gpu, 1000});
}

// Every user has rated every item, which is many ratings.
SparseTensor<double> many_ratings() {
  constexpr Index users = 2000, items = 501;
  SparseTensor<double> ratings({users, items});
  ratings.resize(users * items);
  for (Index z = 0; z < users * items; ++z) {
    ratings.indices(0)[z] = z / items;
    ratings.indices(1)[z] = z % items;
    ratings.values()[z] = double((z * 7919) % 5) + 1;
  }
  return ratings;
}

TEST_F(GpuComplete, chooses_a_gpu_for_many_ratings_on_one_process) {
  const Comm comm = Comm::world();
  const auto few = test::structured_ratings(20, 10, 90, 1);
  auto options = options_for(Way::ratings, 2);
  options.max_epochs = 1;
  options.ranking = 0;
  EXPECT_EQ(json_of(train(few, options, Device{}))["device"], "cpu");
  if (comm.size() > 1) return;
  const auto many = many_ratings();
  EXPECT_EQ(json_of(train(many, options, Device{}))["device"], name_of_gpu());
  options.max_memory_bytes = Index(4) << 30;
  EXPECT_EQ(json_of(train(many, options, Device{}))["device"], "cpu");
  options.max_memory_bytes = 0;
  options.solver = RowSolver::cg;
  EXPECT_EQ(json_of(train(many, options, Device{}))["device"], "cpu");
  // Beside gradient descent, the model for lists.
  options.solver = RowSolver::automatic;
  options.method = CompletionMethod::sgd;
  options.lists = ListsBy::ranking;
  options.popularity = 0.5;
  const auto descended = json_of(train(many, options, Device{}));
  EXPECT_EQ(descended["device"], "cpu");
  EXPECT_EQ(descended["list_model"]["device"], name_of_gpu());
}

}  // namespace
}  // namespace polyad
