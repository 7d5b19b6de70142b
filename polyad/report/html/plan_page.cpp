#include "polyad/report/html/plan_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "polyad/report/html/page_parts.hpp"
#include "polyad/report/html/plan_plots.hpp"
#include "polyad/report/printable_text.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::report {
namespace {

using Families = std::vector<std::pair<Scheme, std::string>>;

bool is_of(const PlannedStrategy& planned, const std::pair<Scheme, std::string>& family) {
  return planned.strategy.scheme == family.first && planned.strategy.partition == family.second;
}

// Kinds of strategies on several processes, in the order of their schemes.
Families families_of(const StrategyPlan& plan) {
  Families families;
  for (const auto& planned : plan.strategies)
    if (planned.processes > 1) families.emplace_back(planned.strategy.scheme, planned.strategy.partition);
  std::ranges::sort(families);
  const auto repeated = std::ranges::unique(families);
  families.erase(repeated.begin(), repeated.end());
  return families;
}

std::string name_of(const std::pair<Scheme, std::string>& family) {
  return family.first == Scheme::medium ? "medium, the fastest grid"
                                        : to_string(family.first) + " " + family.second;
}

// Of each kind the fastest on every number of processes, in one figure. One process is where all begin.
template <class Figure>
std::vector<PlotSeries> series_of(const StrategyPlan& plan, Figure figure) {
  std::vector<PlotSeries> all;
  for (const auto& family : families_of(plan)) {
    auto& series = all.emplace_back(name_of(family));
    for (const auto& planned : plan.strategies) {
      const bool is_new = series.points.empty() || series.points.back().first != planned.processes;
      if (is_new && (planned.processes == 1 || is_of(planned, family)))
        series.points.emplace_back(planned.processes, double(figure(planned)));
    }
  }
  return all;
}

std::string opening(const PlanRun& run, const std::string& title) {
  const auto& plan = run.plan;
  auto html = fmt::format(
      "<header class=\"opening\">\n<p class=\"kicker\">Plan</p>\n<h1>{}</h1>\n<p class=\"lead\">A tensor of "
      "{} "
      "with {}, {}: {} on {}, side by side.</p>\n<dl class=\"figures\">\n",
      escape_html(title), escape_html(dims_text(run.dims)), plural(plan.num_nonzeros, "nonzero"),
      plural(run.options.num_components, "component"),
      plan.strategies.size() == 1 ? "one way to distribute it"
                                  : with_commas(std::ssize(plan.strategies)) + " ways to distribute it",
      run.options.process_counts.size() == 1
          ? processes_text(run.options.process_counts[0])
          : with_commas(std::ssize(run.options.process_counts)) + " numbers of processes");
  if (plan.recommended) {
    const auto& best = plan.strategies[*plan.recommended];
    html += fact("processes", with_commas(best.processes)) +
            fact("per iteration", seconds_text(best.seconds())) +
            fact("words sent", with_commas(best.cost.volume_words)) +
            fact("memory of each", with_prefix(double(best.memory_bytes), "B"));
  }
  return html + "</dl>\n</header>\n";
}

std::string recommendation(const PlanRun& run) {
  const auto& plan = run.plan;
  if (!plan.recommended) return "<p>Nothing can be recommended: " + escape_html(plan.reason) + ".</p>\n";
  const auto& best = plan.strategies[*plan.recommended];
  return fmt::format("<p><b>{}</b>: {}.</p>\n<p class=\"command\">{}</p>\n", escape_html(describe(best)),
                     escape_html(plan.reason), escape_html(cpd_command(run, best)));
}

std::string figure_of(const PlanRun& run, const char* title, const char* unit,
                      const std::vector<PlotSeries>& series,
                      const std::function<std::string(double)>& text_of) {
  const auto plot = processes_plot(title, unit, run.options.process_counts, series, text_of);
  return plot.empty() ? "" : fmt::format("<div><h3>{}</h3>\n<figure>{}</figure></div>\n", title, plot);
}

std::string plots(const PlanRun& run) {
  const auto count = [](double value) { return with_prefix(value, ""); };
  const auto& plan = run.plan;
  return "<p class=\"note\">Of each kind the fastest. Both axes are logarithmic.</p>\n<div "
         "class=\"plots\">\n" +
         figure_of(run, "Time", "time per iteration",
                   series_of(plan, [](const auto& p) { return p.seconds(); }), seconds_text) +
         figure_of(run, "Words sent", "words per iteration, in all",
                   series_of(plan, [](const auto& p) { return p.cost.volume_words; }), count) +
         figure_of(run, "Messages", "messages of the busiest process",
                   series_of(plan, [](const auto& p) { return p.cost.max_messages; }), count) +
         figure_of(run, "Memory", "memory of the largest process",
                   series_of(plan, [](const auto& p) { return p.memory_bytes; }),
                   [](double bytes) { return with_prefix(bytes, "B"); }) +
         "</div>\n";
}

std::string where_time_goes(const std::vector<const PlannedStrategy*>& shown) {
  double longest = 0;
  for (const auto* planned : shown) longest = std::max(longest, planned->seconds());
  std::string html = "<ol class=\"entries times\">\n";
  for (const auto* planned : shown) {
    const auto& time = planned->cost.time;
    const std::array shares{BarShare{"multiplying", time.multiply}, BarShare{"solving rows", time.update},
                            BarShare{"exchange", time.communicate}};
    html +=
        fmt::format("<li><span>{}</span><b>{} = {} + {} + {}</b>{}</li>\n", escape_html(describe(*planned)),
                    seconds_text(planned->seconds()), seconds_text(time.multiply), seconds_text(time.update),
                    seconds_text(time.communicate), stacked_bar(shares, longest));
  }
  return html + "</ol>\n<p class=\"note\">Multiplying + solving rows + exchange.</p>\n";
}

std::string strategies_table(const PlanRun& run, int processes) {
  const auto best = run.plan.recommended_on(processes);
  std::string rows;
  for (const auto* planned : worth_showing(run.plan, processes)) {
    const auto& cost = planned->cost;
    const bool is_best = best && planned == &run.plan.strategies[*best];
    rows += fmt::format("<tr{}><th scope=\"row\">{}{}</th>",
                        is_best         ? " class=\"best\""
                        : planned->fits ? ""
                                        : " class=\"too-large\"",
                        escape_html(describe(*planned)), planned->fits ? "" : " (does not fit)");
    rows += cell("time", seconds_text(planned->seconds())) + cell("words", with_commas(cost.volume_words)) +
            cell("messages", with_commas(cost.messages)) +
            cell("all-reduced", with_commas(cost.all_reduced_words)) +
            cell("r_nnz", fmt::format("{:.2f}", cost.imbalance.nnz)) +
            cell("r_vol", fmt::format("{:.2f}", cost.imbalance.volume)) +
            cell("r_I", fmt::format("{:.2f}", cost.imbalance.rows)) +
            cell("memory", with_prefix(double(planned->memory_bytes), "B")) +
            cell("to make", seconds_text(planned->partition_seconds)) +
            cell("pays after",
                 planned->break_even_iterations ? with_commas(*planned->break_even_iterations) : "never") +
            "</tr>\n";
  }
  return table_of({"", "time", "words", "messages", "all-reduced", "r_nnz", "r_vol", "r_I", "memory",
                   "to make", "pays after"},
                  rows);
}

std::string strategies(const PlanRun& run) {
  std::string html =
      "<p class=\"note\">Per iteration. Words and messages are those sent by all processes together; "
      "all-reduced are the words of replicated modes on each process. r is the imbalance, (max − min) / max "
      "over the processes, of nonzeros, of words sent and received, and of rows. Pays after is the number of "
      "iterations that recover the time to compute the partition. The fastest that fits is in bold.</p>\n";
  for (const int processes : run.options.process_counts)
    html += fmt::format("<h3>{}</h3>\n", processes_text(processes)) + strategies_table(run, processes);
  return html;
}

std::string modes(const std::vector<const PlannedStrategy*>& shown) {
  std::string rows;
  for (const auto* planned : shown) {
    const auto exchange = exchange_names(*planned, int(planned->cost.modes.size()));
    for (std::size_t m = 0; m < planned->cost.modes.size(); ++m) {
      const auto& [nonzeros, words, messages, stages] = planned->cost.modes[m];
      rows +=
          fmt::format("<tr><th scope=\"row\">{}, mode {}</th>", escape_html(describe(*planned)), m + 1) +
          cell("max load", with_commas(nonzeros.max)) +
          cell("avg load", fmt::format("{:.0f}", nonzeros.avg)) + cell("max words", with_commas(words.max)) +
          cell("avg words", fmt::format("{:.0f}", words.avg)) + cell("max msgs", with_commas(messages.max)) +
          cell("avg msgs", fmt::format("{:.1f}", messages.avg)) +
          cell("exchange", exchange.empty() ? "none" : exchange[m]) + "</tr>\n";
    }
  }
  return "<p class=\"note\">Load: nonzeros multiplied; words and messages: sent. Maximum over the processes, "
         "and average.</p>\n" +
         table_of({"", "max load", "avg load", "max words", "avg words", "max msgs", "avg msgs", "exchange"},
                  rows);
}

std::string basis(const PlanRun& run) {
  return "<dl class=\"facts\">\n" + fact("file", escape_html(run.input)) +
         (run.options.max_bytes > 0 ? fact("memory of each", with_prefix(double(run.options.max_bytes), "B"))
                                    : "") +
         fact("constants", escape_html(constants_text(run))) +
         fact("planned in",
              seconds_text(run.plan.timings.seconds("count") + run.plan.timings.seconds("plan"))) +
         fact("peak memory", with_prefix(double(run.peak_memory_bytes), "B")) + "</dl>\n";
}

}  // namespace

std::string plan_page(const PlanRun& run, const RunRecord& record) {
  const auto title = std::filesystem::path(run.input).filename().string();
  const auto& plan = run.plan;
  const int processes =
      plan.recommended ? plan.strategies[*plan.recommended].processes : run.options.process_counts.back();
  const auto shown = worth_showing(plan, processes);
  const auto on = " on " + processes_text(processes);
  Page page(title + ": plan", opening(run, title));
  page.add("recommendation", "Recommendation", recommendation(run));
  if (!families_of(plan).empty()) page.add("plots", "Scaling", plots(run));
  page.add("time", "Parts of the time" + on, where_time_goes(shown));
  page.add("strategies", "Strategies", strategies(run));
  page.add("modes", "Loads per mode" + on, modes(shown));
  page.add("basis", "Basis of the predictions", basis(run));
  return page.html(record, plan_page_style());
}

}  // namespace polyad::report
