#include "polyad/report/html/completion_plan_page.hpp"

#include <gtest/gtest.h>

#include "tests/support/page_faults.hpp"
#include "tests/support/random_ratings.hpp"

namespace polyad::report {
namespace {

// Both sides, each at random in two ways.
CompletionPlanRun some_completion_plan(std::vector<int> process_counts, std::vector<int> sub_epochs = {}) {
  CompletionPlanRun run;
  run.input = "/data/some ratings.csv";
  run.input_files = {run.input};
  run.input_options = {"--columns", "who,what"};
  run.seed = 7;
  run.options.process_counts = std::move(process_counts);
  run.options.sub_epochs = std::move(sub_epochs);
  run.options.row = {8, 10, 4};
  const auto ratings = test::random_ratings({30, 400, 1, 3000}, 5);
  for (const auto by : {RatingSide::user, RatingSide::item})
    for (const std::string name : {"random", "file"})
      run.options.partitions.push_back(
          {by, name, [&ratings, by, name](int num_parts) {
             return RowOwners(ShuffledParts(ratings.extent(mode_of(by)), num_parts, name.size()));
           }});
  run.partition_file = "x.part";
  Progress silent;
  run.plan = plan_completion(ratings, run.options, silent);
  return run;
}

TEST(CompletionPlanPage, shows_what_is_recommended_and_what_else_there_is) {
  const auto run = some_completion_plan({4, 16});
  const auto page = completion_plan_page(run, {.version = "polyad 0.1.0"});
  EXPECT_EQ(test::fault_of(page), "");
  for (const char* part :
       {"<title>some ratings.csv: plan</title>", "3,000 ratings of 400 items by 30 users", "8 factors",
        "<h3>16 processes</h3>", "users by random", "items by file", "(auto)", "built in", "polyad 0.1.0",
        "--columns who,what -r 8 --seed 7 --by items --partition"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_EQ(test::count_of(page, "<svg class=\"chart"), 3);
  EXPECT_EQ(test::count_of(page, "<svg class=\"curve"), 3 * 4) << "two sides, distributed in two ways";
  EXPECT_EQ(test::count_of(page, "class=\"best\""), 1);
  EXPECT_EQ(test::count_of(page, "<th scope=\"row\">"), std::ssize(run.plan.ways));
}

TEST(CompletionPlanPage, tells_a_plan_for_one_process_and_one_that_recommends_nothing) {
  const auto alone = completion_plan_page(some_completion_plan({1}), {.version = "polyad"});
  EXPECT_EQ(test::fault_of(alone), "");
  EXPECT_EQ(alone.find("<svg class=\"chart"), std::string::npos);
  const auto none = some_completion_plan({8}, {1});
  ASSERT_FALSE(none.plan.recommended);
  EXPECT_NE(completion_plan_page(none, {.version = "polyad"}).find("Nothing can be recommended"),
            std::string::npos);
}

TEST(CompletionPlanPage, shows_whatever_a_text_holds_as_text) {
  auto run = some_completion_plan({2, 3});
  run.input = run.machine = "<script>\"&\xff";
  run.input_files = {run.input};
  const auto page = completion_plan_page(run, {.version = run.input});
  EXPECT_EQ(test::fault_of(page), "");
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find('\xff'), std::string::npos);
}

// The rows of users travel where items are distributed: a plan of a matrix is that of its transpose,
// transposed.
TEST(PlanCompletion, by_items_is_by_users_of_the_transpose) {
  const auto ratings = test::random_ratings({30, 50, 1, 600}, 5);
  const auto plan_by = [](const SparseTensor<double>& x, RatingSide by) {
    CompletionPlanOptions options;
    options.process_counts = {1, 3, 8};
    options.row = {8, 10, 4};
    options.partitions.push_back({by, "random", [&x, by](int num_parts) {
                                    return RowOwners(ShuffledParts(x.extent(mode_of(by)), num_parts, 3));
                                  }});
    Progress silent;
    return plan_completion(x, options, silent);
  };
  const auto here = plan_by(ratings, RatingSide::item);
  const auto there = plan_by(transposed(ratings, RatingSide::item), RatingSide::user);
  EXPECT_EQ(here.num_users, 30);
  ASSERT_EQ(here.ways.size(), there.ways.size());
  EXPECT_EQ(here.recommended, there.recommended);
  for (std::size_t i = 0; i < here.ways.size(); ++i) {
    EXPECT_EQ(here.ways[i].by, RatingSide::item);
    EXPECT_EQ(here.ways[i].num_sub_epochs, there.ways[i].num_sub_epochs);
    EXPECT_EQ(here.ways[i].costs.volume_rows, there.ways[i].costs.volume_rows);
    EXPECT_EQ(here.ways[i].costs.staleness_rows, there.ways[i].costs.staleness_rows);
    EXPECT_EQ(here.ways[i].costs.predicted_seconds, there.ways[i].costs.predicted_seconds);
  }
}

}  // namespace
}  // namespace polyad::report
