#include "polyad/tasks/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "polyad/plan/plan_completion.hpp"
#include "polyad/plan/plan_strategies.hpp"
#include "polyad/tasks/decompose.hpp"
#include "polyad/tasks/plan_complete.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/random_ratings.hpp"
#include "tests/support/shares.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad {
namespace {

Tensor some_tensor(std::uint64_t seed) {
  return make_tensor(test::tame_tensor({60, 50, 8}, 1500, seed));
}

TEST(Plan, has_all_strategies_with_their_figures) {
  const auto x = some_tensor(1);
  const auto found = plan(Context::serial(), x, {.rank = 4, .processes = {6, 1, 2, 6}});
  Progress silent;
  const auto expected = plan_strategies(
      x.tensor, {.process_counts = {1, 2, 6}, .num_components = 4, .distribution = {}}, silent);
  ASSERT_EQ(found.candidates().size(), expected.strategies.size());
  for (std::size_t i = 0; i < expected.strategies.size(); ++i) {
    const auto& candidate = found.candidates()[i];
    const auto& planned = expected.strategies[i];
    EXPECT_EQ(candidate.processes, planned.processes);
    EXPECT_EQ(candidate.name, describe(planned));
    EXPECT_EQ(candidate.seconds_per_iteration, planned.seconds());
    EXPECT_EQ(candidate.memory_bytes, planned.memory_bytes);
    EXPECT_EQ(candidate.volume_words, planned.cost.volume_words);
    EXPECT_EQ(candidate.max_messages, planned.cost.max_messages);
  }
  ASSERT_NE(found.recommended(), nullptr);
  EXPECT_EQ(found.recommended(), &found.candidates()[*expected.recommended]);
  EXPECT_EQ(found.recommended_on(2), &found.candidates()[*expected.recommended_on(2)]);
  EXPECT_EQ(found.recommended_on(5), nullptr);
  EXPECT_EQ(found.reason(), expected.reason);
  EXPECT_EQ(nlohmann::json::parse(found.json())["strategies"].size(), expected.strategies.size());
}

// A decomposition with the distribution of a candidate sends what the plan says. Collective.
TEST(Plan, says_what_a_decomposition_will_send) {
  const Context world(Comm::world());
  const int processes = world.comm().size();
  const auto x = some_tensor(2);
  const auto found = plan(Context::serial(), x, {.rank = 3, .processes = {processes}});
  for (std::size_t i = 0; i < found.candidates().size(); i += 5) {
    const auto& candidate = found.candidates()[i];
    const auto model = decompose(world, make_tensor(test::share_of(x.tensor, world.comm())),
                                 {.rank = 3, .max_iterations = 2, .distribution = candidate.distribution});
    const auto json = nlohmann::json::parse(model.json());
    if (processes == 1) continue;
    EXPECT_EQ(json["communication"]["volume_words_per_iteration"], candidate.volume_words) << candidate.name;
  }
}

TEST(Plan, recommends_nothing_that_does_not_fit) {
  const auto found = plan(Context::serial(), some_tensor(3), {.processes = {2}, .max_memory_bytes = 1});
  EXPECT_EQ(found.recommended(), nullptr);
  for (const auto& candidate : found.candidates()) EXPECT_FALSE(candidate.fits);
}

TEST(Plan, writes_a_report) {
  const test::TemporaryFolder folder;
  const auto context = Context::serial();
  save_report(context, plan(context, some_tensor(4), {.processes = {4}}), folder / "plan.html");
  EXPECT_TRUE(test::contents(folder / "plan.html").find("4 processes") != std::string::npos);
}

// [option at fault, sentence]
using PlanFault = std::pair<std::string, std::string>;

template <class Options>
PlanFault fault_of(const Options& options) {
  try {
    validate(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_option);
    return {error.option(), error.what()};
  }
  return {};
}

TEST(Plan, names_the_option_at_fault) {
  EXPECT_EQ(fault_of(PlanOptions{.rank = 0, .processes = {1}}),
            PlanFault("rank", "rank 0: expected a number from 1 to 100000"));
  EXPECT_EQ(fault_of(PlanOptions{}),
            PlanFault("processes", "processes {}: expected 1 to 100 numbers, each from 1 to 1048576"));
  EXPECT_EQ(fault_of(PlanOptions{.processes = {4, 0}}),
            PlanFault("processes", "processes {4, 0}: expected 1 to 100 numbers, each from 1 to 1048576"));
  EXPECT_EQ(fault_of(PlanOptions{.processes = {2}, .distribution = {.cache = "x"}}),
            PlanFault("cache", "cache requires with_hypergraph"));
  EXPECT_EQ(fault_of(PlanOptions{
                .processes = {2}, .distribution = {.scheme = Scheme::medium}, .with_hypergraph = true}),
            PlanFault("with_hypergraph",
                      "with_hypergraph applies to fine and coarse grain, but medium grain was given"));
  const PlanFault half_a_file("partition_file",
                              "partition_file: a file is named if and only if it holds the partition");
  EXPECT_EQ(fault_of(PlanOptions{.processes = {2}, .distribution = {.partition_file = "x"}}), half_a_file);
  EXPECT_EQ(fault_of(CompletePlanOptions{.processes = {2}, .partition_file = "x"}), half_a_file);
  EXPECT_EQ(fault_of(CompletePlanOptions{.processes = {2}, .partition = RatingPartition::file}), half_a_file);
  EXPECT_EQ(fault_of(CompletePlanOptions{.processes = {2}, .by = DistributedSide(3)}),
            PlanFault("by", "by 3: expected a value of its enum"));
  EXPECT_EQ(
      fault_of(PlanOptions{.processes = {2}, .max_memory_bytes = -1}),
      PlanFault("max_memory_bytes", "max_memory_bytes -1: expected a number of bytes, or 0 for no limit"));
  EXPECT_EQ(fault_of(CompletePlanOptions{.processes = {2}, .sync = {70000}}),
            PlanFault("sync", "sync {70000}: expected 1 to 100 numbers, each from 1 to 65535"));
  EXPECT_EQ(fault_of(CompletePlanOptions{.processes = {8, 4}, .sync = {2, 5}}),
            PlanFault("sync", "sync 5: expected numbers from 1 to that of processes, 4"));
  EXPECT_EQ(
      fault_of(CompletePlanOptions{.test = {.kind = TestRatings::Kind::file, .file = "x"}, .processes = {2}}),
      PlanFault("test",
                "test: expected a fraction of the ratings, as in 0.1, or leave-one-out; other ratings "
                "to test on change nothing in a plan"));
  EXPECT_EQ(fault_of(CompletePlanOptions{.factors = 0, .processes = {2}}),
            PlanFault("factors", "factors 0: expected a number from 1 to 100000"));
}

TEST(Plan, runs_on_one_process) {
  const Context world(Comm::world());
  if (world.comm().size() == 1) return;
  EXPECT_THROW(plan(world, some_tensor(1), {.processes = {2}}), Error);
}

TEST(PlanComplete, looks_at_both_sides_and_all_sub_epochs) {
  const auto ratings = make_tensor(test::random_ratings({30, 60, 1, 400}, 5));
  const auto found =
      plan_complete(Context::serial(), ratings, {.factors = 4, .processes = {3, 2}, .sync = {2, 1}});
  ASSERT_EQ(found.candidates().size(), 2 * 2 * 2 * 2);  // processes, sides, partitions, sub-epochs
  const auto json = nlohmann::json::parse(found.json());
  for (std::size_t i = 0; i < found.candidates().size(); ++i) {
    const auto& candidate = found.candidates()[i];
    const auto& way = json["strategies"][i];
    EXPECT_EQ(way["processes"], candidate.processes);
    EXPECT_EQ(way["by"], candidate.by == DistributedSide::users ? "users" : "items");
    EXPECT_EQ(way["partition"], to_string(candidate.partition));
    EXPECT_EQ(way["sync"], candidate.sync);
    EXPECT_EQ(way["volume_words"], candidate.volume_words);
    EXPECT_EQ(way["staleness_words"], candidate.staleness_words);
    EXPECT_EQ(way["predicted_seconds_per_epoch"], candidate.seconds_per_epoch);
  }
  EXPECT_TRUE(std::ranges::is_sorted(found.candidates(), {}, &CompleteCandidate::processes));
  const auto users =
      plan_complete(Context::serial(), ratings, {.processes = {2}, .by = DistributedSide::users});
  for (const auto& candidate : users.candidates()) EXPECT_EQ(candidate.by, DistributedSide::users);
}

TEST(PlanComplete, is_of_matrices) {
  try {
    plan_complete(Context::serial(), some_tensor(1), {.processes = {2}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_input);
  }
}

}  // namespace
}  // namespace polyad
