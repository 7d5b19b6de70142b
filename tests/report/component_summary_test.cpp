#include "polyad/report/component_summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "polyad/base/random.hpp"
#include "polyad/report/components_text.hpp"
#include "polyad/report/label_order.hpp"
#include "polyad/report/printable_text.hpp"

namespace polyad::report {
namespace {

using Kind = SummarisedMode::Kind;

// A model with random rows in some places of long modes; coarse values, so that some are equal.
template <class Real>
struct Example {
  Example(std::vector<Index> dims, Index num_components, double density, std::uint64_t seed)
      : extents(std::move(dims)) {
    const Random random(seed, 0);
    model.weights.assign(std::size_t(num_components), Real(1));
    std::uint64_t draw = 0;
    for (const Index extent : extents) {
      auto& mine = global.emplace_back();
      for (Index i = 0; i < extent; ++i)
        if (random.uniform(draw++) < density) mine.push_back(i);
      if (mine.empty()) mine.push_back(extent - 1);
      auto& factor = model.factors.emplace_back(std::ssize(mine), num_components);
      for (auto& value : factor.flat()) value = Real(std::round(64 * random.uniform(draw++) - 32) / 64);
    }
  }

  ModelRows rows() const { return {{global.begin(), global.end()}, extents}; }
  ComponentSummary summary(Index num_strongest = 8, std::span<const ModeLabels> labels = {}) const {
    return summarise_components(model, rows(), labels, num_strongest);
  }
  std::vector<double> dense_column(int m, Index r) const {
    std::vector<double> column(std::size_t(extents[m]), 0.0);
    for (Index row = 0; row < std::ssize(global[m]); ++row) column[global[m][row]] = model.factors[m](row, r);
    return column;
  }

  Kruskal<Real> model;
  std::vector<std::vector<Index>> global;
  std::vector<Index> extents;
};

std::vector<Example<double>> examples() {
  std::vector<Example<double>> all;
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    for (const double density : {0.02, 0.5, 1.0}) {
      all.emplace_back(std::vector<Index>{1, 7, 299}, 3, density, seed);
      all.emplace_back(std::vector<Index>{300, 301, 1999, 2}, 5, density, seed);
    }
  return all;
}

TEST(ComponentSummary, strongest_entries_are_those_of_a_naive_sort) {
  for (const auto& example : examples())
    for (const Index k : {1, 8, 5000}) {
      const auto summary = example.summary(k);
      for (int m = 0; m < example.model.order(); ++m)
        for (Index r = 0; r < example.model.num_components(); ++r) {
          std::vector<StrongEntry> expected;
          const auto column = example.dense_column(m, r);
          for (Index i = 0; i < std::ssize(column); ++i)
            if (column[i] != 0) expected.push_back({i, column[i], std::to_string(i + 1)});
          std::ranges::stable_sort(expected, std::greater{}, [](const auto& e) { return std::abs(e.value); });
          if (std::ssize(expected) > k) expected.resize(std::size_t(k));
          ASSERT_EQ(summary.components[r].modes[m].strongest, expected);
        }
    }
}

TEST(ComponentSummary, a_line_goes_through_points_of_the_column_and_keeps_its_extremes) {
  for (const auto& example : examples()) {
    const auto summary = example.summary();
    for (int m = 0; m < example.model.order(); ++m)
      for (Index r = 0; r < example.model.num_components(); ++r) {
        const auto column = example.dense_column(m, r);
        const auto& line = summary.components[r].modes[m].line;
        ASSERT_LE(std::ssize(line), kernels::max_line_points);
        ASSERT_TRUE(line.size() == column.size() || std::ssize(column) > kernels::max_line_points);
        for (std::size_t i = 0; i < line.size(); ++i) {
          ASSERT_EQ(line[i].value, column[line[i].index]);
          ASSERT_TRUE(i == 0 || line[i - 1].index < line[i].index);
        }
        const auto [low, high] = std::ranges::minmax(line, {}, &kernels::FactorEntry::value);
        ASSERT_EQ(low.value, *std::ranges::min_element(column));
        ASSERT_EQ(high.value, *std::ranges::max_element(column));
      }
  }
}

TEST(ComponentSummary, long_modes_with_few_rows_cost_little) {
  const Index extent = Index(1) << 50;
  Kruskal<float> model{{2}, {Matrix<float>(2, 1), Matrix<float>(1, 1)}};
  model.factors[0](0, 0) = -0.5F;
  model.factors[0](1, 0) = 0.25F;
  model.factors[1](0, 0) = 1;
  const std::vector<Index> long_rows{5, extent - 1}, short_rows{0}, extents{extent, 1};

  const auto summary = summarise_components(model, {{long_rows, short_rows}, extents}, {});

  const auto& mode = summary.components[0].modes[0];
  EXPECT_EQ(mode.strongest,
            (std::vector<StrongEntry>{{5, -0.5, "6"}, {extent - 1, 0.25, std::to_string(extent)}}));
  EXPECT_EQ(std::ranges::count(mode.line, 0.0, &kernels::FactorEntry::value), 150);
  EXPECT_EQ(mode.line.back(), (kernels::FactorEntry{extent - 1, 0.25}));
}

TEST(ComponentSummary, labels_and_modes_are_named) {
  const Example<double> example({3, 2}, 1, 1.0, 4);
  const std::vector<ModeLabels> labels{{"who", {"bob", "ann", "eve"}}, {}};

  const auto summary = example.summary(8, labels);

  EXPECT_EQ(summary.modes[0].name, "who");
  EXPECT_EQ(summary.modes[0].first_label + summary.modes[0].last_label, "bobeve");
  EXPECT_EQ(summary.modes[0].kind, Kind::categories);
  EXPECT_EQ(summary.modes[1].name, "mode 2");
  EXPECT_EQ(summary.modes[1].first_label + summary.modes[1].last_label, "12");
  EXPECT_EQ(summary.modes[1].kind, Kind::ordered);
  EXPECT_TRUE(summary.components[0].modes[0].line.empty());
  for (const auto& entry : summary.components[0].modes[0].strongest)
    EXPECT_EQ(entry.label, labels[0].labels[entry.index]);
}

TEST(ComponentSummary, weights_are_compared_with_the_largest_and_may_vanish) {
  Example<float> example({4, 4}, 3, 1.0, 9);
  example.model.weights = {4, 1, 0};
  for (auto& factor : example.model.factors)
    for (Index row = 0; row < factor.num_rows(); ++row) factor(row, 2) = 0;

  const auto summary = example.summary();

  EXPECT_EQ(summary.components[0].relative_weight, 1);
  EXPECT_EQ(summary.components[1].relative_weight, 0.25);
  EXPECT_TRUE(summary.components[2].vanished());
  EXPECT_TRUE(summary.components[2].modes[0].strongest.empty());
  EXPECT_NE(components_text(summary).find("component 3: vanished"), std::string::npos);
}

TEST(ComponentSummary, tells_of_components_that_cancel_or_repeat_each_other) {
  Example<double> example({30, 20, 10}, 4, 1.0, 2);
  for (int m = 0; m < 3; ++m)
    for (Index row = 0; row < example.model.factors[m].num_rows(); ++row) {
      const double value = example.model.factors[m](row, 0);
      example.model.factors[m](row, 2) = m == 1 ? -3 * value : value + 1e-3;
      example.model.factors[m](row, 3) = 2 * value;
    }

  const auto summary = example.summary();

  ASSERT_EQ(summary.congruent.size(), 3);
  EXPECT_NEAR(summary.congruent[0].congruence, 1, 1e-12);
  EXPECT_EQ(summary.congruent[0].second, 3);
  const auto warnings = congruence_warnings(summary);
  EXPECT_TRUE(warnings[0].starts_with("components 1 and 4 are nearly the same")) << warnings[0];
  EXPECT_TRUE(warnings[1].starts_with("components 1 and 3 nearly cancel each other")) << warnings[1];

  example.model.weights[2] = -1;
  for (const auto& pair : example.summary().congruent) EXPECT_GT(pair.congruence, 0.95);
}

TEST(LabelOrder, scales_are_recognised) {
  const std::vector<std::vector<std::string>> scales{{},
                                                     {"7"},
                                                     {"-1", "0", "2.5", "1e3"},
                                                     {"2014-04-01", "2014-04-02", "2015-01-01"},
                                                     {"2014-04", "2014-11"},
                                                     {"2014-W09", "2014-W10", "2015-W01"},
                                                     {"2014-04-01T09", "2014-04-01T10"},
                                                     {"2014-04-01 09:59:58", "2014-04-01 09:59:59"},
                                                     {"2014-04-01T09:00Z", "2014-04-01T09:30Z"},
                                                     {"00:00", "01:00", "23:00"},
                                                     {"8:30", "9:00", "10:00"},
                                                     {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"},
                                                     {"Sunday", "Monday", "tuesday"},
                                                     {"January", "Feb", "MARCH"},
                                                     {"Oct", "Nov", "Dec", "Jan", "Feb"}};
  for (const auto& labels : scales) EXPECT_TRUE(are_ordered(labels)) << testing::PrintToString(labels);
}

TEST(LabelOrder, other_labels_are_categories) {
  const std::vector<std::vector<std::string>> categories{{"ann"},
                                                         {""},
                                                         {"Monday"},
                                                         {"ann", "bob"},
                                                         {"2", "1"},
                                                         {"1", "1"},
                                                         {"1", "2", "many"},
                                                         {"nan", "inf"},
                                                         {"2014-04-02", "2014-04-01"},
                                                         {"2014-04-01", "2014-05"},
                                                         {"10.0.0.1", "10.0.0.2"},
                                                         {"12-34", "12-35"},
                                                         {"-1:00", "-2:00"},
                                                         {"99999999999:00", "99999999999:01"},
                                                         {"Apr", "Aug", "Dec", "Feb", "Jan"},
                                                         {"Mon", "Wed", "Tue"},
                                                         {"Dec", "Jan", "Dec"},
                                                         {"1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8:10"}};
  for (const auto& labels : categories) EXPECT_FALSE(are_ordered(labels)) << testing::PrintToString(labels);
}

TEST(PrintableText, what_cannot_be_shown_is_replaced) {
  EXPECT_EQ(printable("Škoda 東京 🚆"), "Škoda 東京 🚆");
  EXPECT_EQ(printable("a\tb\x1b[31m\x7f"), "a\uFFFDb\uFFFD[31m\uFFFD");
  EXPECT_EQ(printable("\xff\xc3(\xe6\x9d"), "\uFFFD\uFFFD(\uFFFD\uFFFD");
  EXPECT_EQ(printable("\xc0\xaf\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD") << "overlong, surrogate";
  EXPECT_EQ(printable("x\u202Ey"), "x\uFFFDy") << "turns the direction of writing";
  EXPECT_EQ(escape_html("<b a=\"1\" c='2'>&"), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;");
}

TEST(PrintableText, is_clipped_by_cells_and_never_within_a_character) {
  EXPECT_EQ(num_cells("Škoda"), 5);
  EXPECT_EQ(num_cells("東京"), 4);
  EXPECT_EQ(num_cells("e\u0301"), 1);
  EXPECT_EQ(clip("Škoda", 5), "Škoda");
  EXPECT_EQ(clip("Škoda", 3), "Šk…");
  EXPECT_EQ(clip("東京都", 5), "東京…");
  EXPECT_EQ(clip("東京都", 4), "東…");
  EXPECT_EQ(clip("abc", 0), "");
  EXPECT_EQ(clip_front("Škoda", 5), "Škoda");
  EXPECT_EQ(clip_front("Škodaé", 3), "…aé");
  EXPECT_EQ(clip_front("東京都", 4), "…都");
  EXPECT_EQ(clip_front("ae\u0301o", 2), "…o");
  EXPECT_EQ(clip_front("abc", 0), "");
}

TEST(ComponentsText, every_line_fits_the_width) {
  std::vector<ModeLabels> labels(4);
  labels[1] = {"a mode with quite a long name, as some files have", {}};
  for (int i = 0; i < 301; ++i)
    labels[1].labels.push_back("Straße " + std::string(std::size_t(i % 60), 'x') + "é京");
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    for (const int width : {40, 60, 80, 100, 200}) {
      const auto text =
          components_text(Example<double>({300, 301, 1999, 2}, 5, 0.5, seed).summary(8, labels), width);
      for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
        ASSERT_LE(num_cells(text.substr(at, end - at)), width) << text;
    }
}

TEST(ComponentsText, labels_that_begin_alike_are_clipped_where_they_differ) {
  const std::vector<ModeLabels> labels{
      {"page", {"https://example.org/resource/Berlin", "https://example.org/resource/Oslo"}},
      {"who", {"Bartholomew the elder of them all", "Bob"}}};
  const auto text = components_text(Example<double>({2, 2}, 1, 1.0, 3).summary(8, labels), 40);
  EXPECT_NE(text.find("…ce/Berlin "), std::string::npos) << text;
  EXPECT_NE(text.find("Bartholome"), std::string::npos) << text;
}

TEST(ComponentsText, is_a_table_with_a_column_per_mode) {
  Kruskal<double> model{{2.5, 1}, {Matrix<double>(2, 2), Matrix<double>(2, 2)}};
  model.factors[0](0, 0) = 0.6;
  model.factors[0](1, 0) = -0.8;
  model.factors[1](0, 0) = 1;
  model.factors[1](1, 0) = 1e-9;  // rounding left it over
  model.factors[0](0, 1) = model.factors[1](1, 1) = 1;
  const std::vector<Index> rows{0, 1}, extents{2, 2};
  const std::vector<ModeLabels> labels{{"who", {"ann", "robert"}}, {"what", {"tea", "cake"}}};
  const auto summary = summarise_components(model, {{rows, rows}, extents}, labels);

  EXPECT_EQ(components_text(summary, 80, 1), R"(component 1: weight 2.5
  who             what
  robert -0.800   tea 1.000
  ann     0.600

1 more component is not shown
)");
}

}  // namespace
}  // namespace polyad::report
