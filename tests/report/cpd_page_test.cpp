#include "polyad/report/html/cpd_page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

#include "polyad/base/random.hpp"
#include "polyad/report/html/plots.hpp"
#include "polyad/report/printable_text.hpp"
#include "tests/support/page_faults.hpp"

namespace polyad::report {
namespace {

using test::count_of, test::fault_of;

CpdPageContents contents(const std::vector<Index>& extents, Index num_components,
                         const std::vector<ModeLabels>& labels = {}) {
  const Random random(7, 0);
  std::uint64_t draw = 0;
  Kruskal<double> model;
  std::vector<std::vector<Index>> rows;
  for (Index r = 0; r < num_components; ++r) model.weights.push_back(double(num_components - r));
  for (const Index extent : extents) {
    auto& mine = rows.emplace_back();
    for (Index i = 0; i < std::min<Index>(extent, 2000); ++i)
      mine.push_back(i * (extent / std::min<Index>(extent, 2000)));
    auto& factor = model.factors.emplace_back(std::ssize(mine), num_components);
    for (auto& value : factor.flat()) value = random.normal(draw++);
  }
  CpdPageContents c;
  c.title = "x.tns";
  c.input = "/data/x.tns";
  c.num_nonzeros = 1234567;
  c.tensor_norm = 10;
  c.method = "alternating least squares";
  c.format = "csf";
  c.round = "iteration";
  c.plan = "mode 1, then mode 2";
  c.mode_order = {1, 0};
  c.fit_trajectory = {0.1, 0.35, 0.4};
  c.model_iteration = 3;
  c.stop_reason = "converged";
  c.phase_seconds = {{"load", 0.0123}, {"iterate", 125}};
  c.peak_memory_bytes = 44400000;
  c.summary = summarise_components(model, {{rows.begin(), rows.end()}, extents}, labels);
  c.record = {"polyad 0.1.0",
              "2026-01-31 12:00:00 UTC",
              "polyad cpd x.tns -r 2",
              {{"--rank", "2"}, {"--nonneg", "none", true}}};
  return c;
}

TEST(CpdPage, tells_what_was_decomposed_and_how_well) {
  const auto page = cpd_page(contents({40, 500, 3}, 2, {{"who", {}}, {}, {"what", {"b", "c", "a"}}}));
  EXPECT_EQ(fault_of(page), "");
  for (const char* part :
       {"<title>x.tns: CP decomposition</title>", "A tensor of 40 × 500 × 3 (who × mode 2 × what)",
        "1,234,567 nonzeros", "<b>64.0 %</b> of the squared norm", "has norm 6, where the tensor has 10",
        "a fit of 0.400000", "after 3 iterations (converged)", "<dd>mode 2, who</dd>", "12.3 ms",
        "2 min 05 s", "44.4 MB", "polyad 0.1.0", "<h3>Component 2</h3>"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_EQ(count_of(page, "<svg class=\"line\""), 4) << "a line for each of two scales in two components";
  EXPECT_EQ(count_of(page, "<svg class=\"bar\""), 6) << "a bar for each of three names in two components";
  EXPECT_EQ(count_of(page, "<polyline"), 5);
}

TEST(CpdPage, tells_what_computed) {
  auto on_gpu = contents({40, 500, 3}, 2);
  EXPECT_EQ(cpd_page(on_gpu).find("gpu"), std::string::npos);
  on_gpu.device = "gpu 0: <fast>";
  EXPECT_NE(cpd_page(on_gpu).find("gpu 0: &lt;fast&gt;, "), std::string::npos);
}

TEST(CpdPage, says_how_the_run_can_be_repeated) {
  const auto page = cpd_page(contents({40, 500, 3}, 2));
  for (const char* part :
       {"<p class=\"command\">polyad cpd x.tns -r 2</p>", "<dt>date</dt><dd>2026-01-31 12:00:00 UTC</dd>",
        "<dt>version</dt><dd>polyad 0.1.0</dd>", "<dt>--rank</dt><dd>2</dd>",
        "<dt>--nonneg</dt><dd>none <small>(default)</small></dd>"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  auto without = contents({2, 3}, 1);
  without.record.command.clear();
  EXPECT_EQ(cpd_page(without).find("class=\"command\""), std::string::npos) << "the library has no command";
}

TEST(CpdPage, begins_with_links_to_its_sections) {
  const auto page = cpd_page(contents({40, 500, 3}, 2));
  Index at = 0;
  for (const char* id :
       {"subject", "residual", "convergence", "weights", "components", "computation", "costs", "record"}) {
    const auto link = page.find(std::string("<li><a href=\"#") + id + "\">");
    ASSERT_NE(link, std::string::npos) << id;
    EXPECT_GT(Index(link), std::exchange(at, Index(link))) << "in their order";
    EXPECT_GT(page.find(std::string("<section id=\"") + id + "\""), link);
  }
}

TEST(CpdPage, shows_the_value_of_every_point_without_a_script) {
  std::vector<ModeLabels> labels{{"month", {"2024-01", "2024-02", "2024-03"}}, {"<who>", {}}};
  auto c = contents({3, 40}, 1, labels);
  c.labels = labels;
  const auto page = cpd_page(c);
  EXPECT_EQ(fault_of(page), "");
  for (const char* part :
       {"<title>iteration 1: fit 0.1</title></rect>", "<title>iteration 3: fit 0.4</title></rect>",
        "<title>component 1: weight 1</title></rect></a>",
        "<title>64.0 % of the squared norm is explained</title>"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  const auto& line = c.summary.components[0].modes[0].line;
  ASSERT_EQ(line.size(), 3);
  const NumberColumn numbers(std::abs(c.summary.components[0].modes[0].strongest[0].value));
  for (int i = 0; i < 3; ++i)
    EXPECT_NE(page.find("<title>" + labels[0].labels[i] + ": " + numbers.text(line[i].value) + "</title>"),
              std::string::npos);
  EXPECT_EQ(count_of(page, "<svg class=\"texts\""), 3) << "convergence and two lines";
}

TEST(CpdPage, names_both_axes_of_every_plot) {
  const auto page = cpd_page(contents({40, 500, 3}, 2, {{"who", {}}, {}, {"what", {"b", "c", "a"}}}));
  for (const char* name : {"fit (1: exact)", "iteration", "weight (norm of the component)", "component",
                           "share of the squared norm"})
    EXPECT_EQ(count_of(page, std::string(">") + name + "</text>"), 1) << name;
  EXPECT_EQ(count_of(page, ">entry of the factor</text>"), 4);
  EXPECT_EQ(count_of(page, ">who</text>") + count_of(page, ">mode 2</text>"), 4);
}

TEST(CpdPage, needs_nothing_but_itself) {
  const auto page = cpd_page(contents({40, 500, 3}, 2));
  EXPECT_EQ(count_of(page, "http"), 2) << "the name of XHTML, and http-equiv";
  for (const char* part : {"<script", "src=", "url(", "@import", "stylesheet", "onload", "onclick"})
    EXPECT_EQ(page.find(part), std::string::npos) << part;
  EXPECT_NE(page.find("default-src &#39;none&#39;"), std::string::npos);
}

TEST(CpdPage, shows_whatever_a_text_holds_as_text) {
  const std::string nasty = "<script>alert(\"1\")</script>'&\xff\x01\xe2\x80\xae";
  auto c = contents({2, 3}, 2, {{nasty, {nasty, nasty + nasty}}, {nasty, {}}});
  c.title = c.input = c.plan = c.format = c.stop_reason = nasty;
  c.record = {nasty, nasty, nasty, {{nasty, nasty}, {nasty, nasty, true}}};
  c.phase_seconds = {{nasty, 1}};
  c.warnings = {nasty};
  const auto page = cpd_page(c);
  EXPECT_EQ(fault_of(page), "");
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find('\xff'), std::string::npos);
  EXPECT_EQ(page.find('\x01'), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;\uFFFD\uFFFD\uFFFD"),
            std::string::npos);
}

TEST(CpdPage, stays_small_with_many_components_and_says_so) {
  std::vector<ModeLabels> labels(4);
  labels[1] = {"name", std::vector<std::string>(2000, std::string(5000, 'x'))};
  const auto page = cpd_page(contents({17000000, 2000, 1000, 24}, 500, labels));
  EXPECT_LT(page.size(), 3000000);
  EXPECT_EQ(fault_of(page), "");
  EXPECT_EQ(count_of(page, "<article"), 80);
  EXPECT_NE(page.find("Components 81 to 500 in short"), std::string::npos);

  const auto more = cpd_page(contents(std::vector<Index>(16, 400), 1200));
  EXPECT_LT(more.size(), 4000000);
  EXPECT_EQ(fault_of(more), "");
  EXPECT_NE(more.find("180 more are not listed"), std::string::npos);
}

TEST(CpdPage, is_sound_for_odd_models) {
  for (const auto& extents : std::vector<std::vector<Index>>{{1, 1, 1}, {1, 2}, {5, 1, 300, 301}})
    for (const Index n : {0, 1, 2, 17}) {
      auto c = contents(extents, n);
      for (const auto& fits : std::vector<std::vector<double>>{
               {}, {0}, {1}, {0.5}, {-0.1, -0.1}, {0.3, 0.3 + 1e-14}, std::vector<double>(5000, 0.25)}) {
        c.fit_trajectory = fits;
        c.model_iteration = int(fits.size());
        const auto page = cpd_page(c);
        ASSERT_EQ(fault_of(page), "");
        ASSERT_EQ(page.find("nan"), std::string::npos);
        ASSERT_EQ(page.find("inf"), std::string::npos);
        ASSERT_LT(page.size(), 400000);
      }
    }
}

TEST(CpdPage, shows_vanished_components_and_warnings) {
  auto c = contents({4, 4}, 3);
  c.summary.components[1].weight = 0;
  c.summary.congruent = {{0, 2, -0.97}};
  c.warnings = {"the file is odd"};
  const auto page = cpd_page(c);
  EXPECT_EQ(fault_of(page), "");
  EXPECT_NE(page.find("vanished: its weight is 0"), std::string::npos);
  EXPECT_NE(page.find("1 component vanished"), std::string::npos);
  EXPECT_NE(page.find("<li>the file is odd</li>"), std::string::npos);
  EXPECT_NE(page.find("components 1 and 3 nearly cancel each other"), std::string::npos);

  for (auto& component : c.summary.components) component = {0, 0, std::vector<ComponentMode>(2)};
  EXPECT_EQ(fault_of(cpd_page(c)), "") << "nothing is left at all";
}

TEST(Plots, points_stay_within_their_box) {
  const auto c = contents({1000, 40, 1}, 3);
  for (const auto& component : c.summary.components)
    for (std::size_t m = 0; m < 3; ++m) {
      const auto svg = line_plot(
          c.summary.modes[m], component.modes[m], [](Index i) { return std::to_string(i); }, 300);
      const auto begin = svg.find("points=\"") + 8;
      std::istringstream points(svg.substr(begin, svg.find('"', begin) - begin));
      double x = 0, y = 0, last = -1, lowest = 1000, highest = 0;
      for (char comma = 0; points >> x >> comma >> y;) {
        ASSERT_GT(x, last);
        ASSERT_TRUE(x <= 1000 && y >= 0 && y <= 1000);
        last = x;
        lowest = std::min(lowest, y);
        highest = std::max(highest, y);
      }
      EXPECT_TRUE(m == 2 || (lowest == 0 && highest == 1000)) << svg;
    }
}

}  // namespace
}  // namespace polyad::report
