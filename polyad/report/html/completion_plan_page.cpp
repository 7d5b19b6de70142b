#include "polyad/report/html/completion_plan_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "polyad/report/html/page_parts.hpp"
#include "polyad/report/html/plan_page.hpp"
#include "polyad/report/html/plan_plots.hpp"
#include "polyad/report/plan_report.hpp"
#include "polyad/report/printable_text.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::report {
namespace {

std::string name_of(const PlannedCompletion& way) {
  return to_string(way.by) + "s by " + way.partition;
}

// Of each kind, and on each number of processes, what --sync auto takes; or else the quickest.
std::vector<const PlannedCompletion*> worth_drawing(const CompletionPlan& plan) {
  std::vector<const PlannedCompletion*> shown;
  for (const auto& way : plan.ways) {
    const auto same = std::ranges::find_if(shown, [&](const auto* other) {
      return other->processes == way.processes && name_of(*other) == name_of(way);
    });
    const auto price = [](const PlannedCompletion& w) {
      return std::pair(!w.is_automatic, w.costs.predicted_seconds);
    };
    if (same == shown.end())
      shown.push_back(&way);
    else if (price(way) < price(**same))
      *same = &way;
  }
  return shown;
}

template <class Figure>
std::vector<PlotSeries> series_of(const CompletionPlan& plan, Figure figure) {
  std::vector<PlotSeries> all;
  for (const auto* way : worth_drawing(plan)) {
    auto series = std::ranges::find(all, name_of(*way), &PlotSeries::name);
    if (series == all.end()) series = all.insert(all.end(), {name_of(*way), {}});
    series->points.emplace_back(way->processes, double(figure(way->costs)));
  }
  return all;
}

std::string opening(const CompletionPlanRun& run, const std::string& title) {
  const auto& plan = run.plan;
  auto html = fmt::format(
      "<header class=\"opening\">\n<p class=\"kicker\">Plan</p>\n<h1>{}</h1>\n<p class=\"lead\">{} of {} by "
      "{}, to be learned from with {}: {}, side by side.</p>\n<dl class=\"figures\">\n",
      escape_html(title), plural(plan.num_ratings, "rating"), plural(plan.num_items, "item"),
      plural(plan.num_users, "user"), plural(run.options.row.num_factors, "factor"),
      plural(std::ssize(plan.ways), "way"));
  if (plan.recommended) {
    const auto& best = plan.ways[*plan.recommended];
    html += fact("processes", with_commas(best.processes)) +
            fact("per epoch", seconds_text(best.costs.predicted_seconds)) +
            fact("words sent", with_commas(best.costs.volume_rows * run.options.row.num_words)) +
            fact("sub-epochs", with_commas(best.num_sub_epochs));
  }
  return html + "</dl>\n</header>\n";
}

std::string recommendation(const CompletionPlanRun& run) {
  if (!run.plan.recommended)
    return "<p>Nothing can be recommended: with these numbers of sub-epochs staleness costs too "
           "much progress.</p>\n";
  const auto& best = run.plan.ways[*run.plan.recommended];
  return fmt::format(
      "<p><b>{}</b>: the quickest on the way to a given error, of those with a "
      "progress of at least 0.9.</p>\n<p class=\"command\">{}</p>\n",
      escape_html(name_of(best)), escape_html(complete_command(run, best)));
}

std::string plots(const CompletionPlanRun& run) {
  const auto words = double(run.options.row.num_words);
  const auto count = [](double value) { return with_prefix(value, ""); };
  const auto figure = [&](const char* title, const char* unit, const std::vector<PlotSeries>& series,
                          const std::function<std::string(double)>& text_of) {
    const auto plot = processes_plot(title, unit, run.options.process_counts, series, text_of);
    return plot.empty() ? "" : fmt::format("<div><h3>{}</h3>\n<figure>{}</figure></div>\n", title, plot);
  };
  const auto& plan = run.plan;
  return "<p class=\"note\">With the sub-epochs that are chosen by default, or the fastest if others were "
         "given. Both axes are logarithmic.</p>\n<div class=\"plots\">\n" +
         figure("Time", "time per epoch",
                series_of(plan, [](const RotationCosts& c) { return c.predicted_seconds; }), seconds_text) +
         figure("Words sent", "words per epoch, in all",
                series_of(plan, [&](const RotationCosts& c) { return words * double(c.volume_rows); }),
                count) +
         figure("Messages", "messages of the busiest process",
                series_of(plan, [](const RotationCosts& c) { return c.max_messages; }), count) +
         "</div>\n";
}

std::string table_on(const CompletionPlanRun& run, int processes) {
  const Index words = run.options.row.num_words;
  std::string rows;
  for (std::size_t i = 0; i < run.plan.ways.size(); ++i) {
    const auto& way = run.plan.ways[i];
    if (way.processes != processes) continue;
    rows += fmt::format("<tr{}><th scope=\"row\">{}</th>", i == run.plan.recommended ? " class=\"best\"" : "",
                        escape_html(name_of(way))) +
            cell("sub-epochs", with_commas(way.num_sub_epochs) + (way.is_automatic ? " (auto)" : "")) +
            cell("time", seconds_text(way.costs.predicted_seconds)) +
            cell("largest λ", with_commas(way.costs.max_connectivity)) +
            cell("progress", fmt::format("{:.2f}", way.costs.progress)) +
            cell("staleness", with_commas(way.costs.staleness_rows * words)) +
            cell("words", with_commas(way.costs.volume_rows * words)) +
            cell("messages", with_commas(way.costs.messages)) +
            cell("schedule", fmt::format("{:.2f}", way.costs.schedule_ratio())) +
            cell("load", fmt::format("{:.2f}", 1 + way.imbalance)) + "</tr>\n";
  }
  return table_of({"", "sub-epochs", "time", "largest λ", "progress", "staleness", "words", "messages",
                   "schedule", "load"},
                  rows);
}

std::string ways(const CompletionPlanRun& run) {
  std::string html =
      "<p class=\"note\">Per epoch; staleness and words are of all processes together. λ: processes that "
      "have "
      "ratings of the same row. Schedule and load: the busiest process over the mean, in the sub-epochs and "
      "in all. What is recommended is in bold.</p>\n";
  for (const int processes : run.options.process_counts)
    html += fmt::format("<h3>{}</h3>\n", processes_text(processes)) + table_on(run, processes);
  return html;
}

std::string basis(const CompletionPlanRun& run) {
  return "<dl class=\"facts\">\n" + fact("file", escape_html(run.input)) +
         fact("words of a row", with_commas(run.options.row.num_words)) +
         fact("constants", escape_html(run.machine)) + fact("planned in", seconds_text(run.plan_seconds)) +
         fact("peak memory", with_prefix(double(run.peak_memory_bytes), "B")) + "</dl>\n";
}

}  // namespace

std::string completion_plan_page(const CompletionPlanRun& run, const RunRecord& record) {
  const auto title = std::filesystem::path(run.input).filename().string();
  Page page(title + ": plan", opening(run, title));
  page.add("recommendation", "Recommendation", recommendation(run));
  if (run.options.process_counts.back() > 1) page.add("plots", "Scaling", plots(run));
  page.add("strategies", "Strategies", ways(run));
  page.add("basis", "Basis of the predictions", basis(run));
  return page.html(record, plan_page_style());
}

}  // namespace polyad::report
