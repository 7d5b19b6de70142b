#include "polyad/report/html/plan_page.hpp"

#include <gtest/gtest.h>

#include "polyad/report/html/plan_plots.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/page_faults.hpp"

namespace polyad::report {
namespace {

PlanRun some_run(std::vector<int> process_counts, Index max_bytes = 0) {
  PlanRun run;
  run.input = "/data/x.tns";
  run.input_files = {run.input};
  run.dims = {60, 50, 40};
  run.options.process_counts = std::move(process_counts);
  run.options.num_components = 4;
  run.options.max_bytes = max_bytes;
  Progress silent;
  run.plan = plan_strategies(test::tame_tensor(run.dims, 900, 3), run.options, silent);
  return run;
}

TEST(PlanPage, shows_what_is_recommended_and_what_else_there_is) {
  const auto run = some_run({1, 4, 16});
  const auto page = plan_page(run, {.version = "polyad 0.1.0"});
  EXPECT_EQ(test::fault_of(page), "");
  for (const char* part :
       {"<title>x.tns: plan</title>", "A tensor of 60x50x40 with 8", "on 3 numbers of processes",
        "<h3>16 processes</h3>", "coarse random", "fine block", "polyad cpd /data/x.tns -r 4",
        "built in: 3 us a message", "r_vol", "polyad 0.1.0"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_EQ(test::count_of(page, "<svg class=\"chart"), 4);
  EXPECT_EQ(test::count_of(page, "<svg class=\"curve"), 4 * 5) << "five kinds";
  for (const char* part : {">time per iteration</text>", ">words per iteration, in all</text>",
                           ">messages of the busiest process</text>", ">memory of the largest process</text>",
                           "<title>multiplying: "})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_EQ(test::count_of(page, ">number of processes</text>"), 4);
  EXPECT_EQ(test::count_of(page, "</title></circle>"), test::count_of(page, "<circle"))
      << "every point has its value";
  EXPECT_EQ(test::count_of(page, "<svg class=\"sample"), 4 * 5);
  EXPECT_EQ(test::count_of(page, "class=\"best\""), 3);
}

TEST(PlanPage, needs_nothing_but_itself) {
  const auto page = plan_page(some_run({2}), {.version = "polyad"});
  EXPECT_EQ(test::count_of(page, "http"), 2) << "the name of XHTML, and http-equiv";
  for (const char* part : {"<script", "src=", "url(", "@import", "stylesheet", "onload"})
    EXPECT_EQ(page.find(part), std::string::npos) << part;
}

TEST(PlanPage, shows_whatever_a_text_holds_as_text) {
  auto run = some_run({2, 3});
  run.input = run.machine = "<script>\"&\xff";
  run.input_files = {run.input};
  const auto page = plan_page(run, {.version = run.input});
  EXPECT_EQ(test::fault_of(page), "");
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find('\xff'), std::string::npos);
}

TEST(PlanPage, says_what_does_not_fit) {
  const auto none = plan_page(some_run({2}, 1000), {.version = "polyad"});
  EXPECT_EQ(test::fault_of(none), "");
  EXPECT_NE(none.find("Nothing can be recommended: none of"), std::string::npos);
  EXPECT_NE(none.find("(does not fit)"), std::string::npos);
}

TEST(PlanPage, has_a_place_for_one_process_and_for_many_numbers) {
  EXPECT_EQ(test::fault_of(plan_page(some_run({1}), {.version = "polyad"})), "");
  std::vector<int> counts;
  for (int count = 1; count <= 40; ++count) counts.push_back(count);
  const auto page = plan_page(some_run(counts), {.version = "polyad"});
  EXPECT_EQ(test::fault_of(page), "");
  EXPECT_LT(page.size(), 400000u);
}

TEST(PlanText, has_the_options_of_cpd) {
  auto run = some_run({4});
  PlannedStrategy medium;
  medium.processes = 4;
  medium.strategy = {Scheme::medium,       "block",
                     GridShape({2, 2, 1}), LayerPolicy{LayerPolicy::Kind::ordered, 5},
                     RowRule::greedy,      {}};
  medium.is_replicated = {false, true, true};
  using Words = std::vector<std::string>;
  EXPECT_EQ(cpd_options(run, medium), (Words{"--distribution", "medium", "--grid", "2x2x1", "--policy-c", "5",
                                             "--row-owners", "greedy", "--replicate", "2,3"}));
  PlannedStrategy fine;
  fine.processes = 4;
  fine.strategy = {Scheme::fine, "file", {}, {}, RowRule::greedy, {}};
  run.partition = "x.part";
  run.options.distribution.seed = 7;
  EXPECT_EQ(cpd_options(run, fine), (Words{"--distribution", "fine", "--partition", "x.part", "--row-owners",
                                           "greedy", "--replicate", "none", "--seed", "7"}));
  fine.strategy.scheme = Scheme::coarse;
  fine.strategy.row_rule = {};
  run.options.distribution.seed = 1;
  EXPECT_EQ(cpd_command(run, fine),
            "mpirun -n 4 polyad cpd /data/x.tns -r 4 --distribution coarse --partition x.part");
}

TEST(ProcessesPlot, leaves_out_what_has_no_place) {
  const std::vector<int> counts{1, 4};
  const std::vector<PlotSeries> none{{"a", {{1, 0}, {4, 0}}}};
  EXPECT_EQ(processes_plot("t", "u", counts, none, [](double) { return ""; }), "");
  const std::vector<PlotSeries> some{{"a", {{1, 0}, {4, 10}}}};
  const auto plot = processes_plot("t", "u", counts, some, [](double) { return "<"; });
  EXPECT_EQ(test::count_of(plot, "<circle"), 1);
  EXPECT_NE(plot.find("&lt;"), std::string::npos);
  const std::vector<int> five{1, 2, 3, 4, 5};
  const std::vector<PlotSeries> gap{{"a", {{1, 1}, {2, 1}, {3, 0}, {4, 10}, {5, 10}}}};
  const auto broken = processes_plot("t", "u", five, gap, [](double) { return ""; });
  EXPECT_EQ(test::count_of(broken, "<polyline points"), 2 + 1) << "two pieces, and the sample";
}

}  // namespace
}  // namespace polyad::report
