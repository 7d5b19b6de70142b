#include "polyad/report/html/cpd_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "polyad/base/progress.hpp"
#include "polyad/report/html/component_cards.hpp"
#include "polyad/report/html/page_parts.hpp"
#include "polyad/report/html/plots.hpp"
#include "polyad/report/printable_text.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::report {
namespace {

// The names of the modes, say, with something between them.
template <class Fn>
std::string joined(const std::vector<SummarisedMode>& modes, const char* between, Fn text_of) {
  std::string text;
  for (const auto& mode : modes) text += (text.empty() ? "" : between) + text_of(mode);
  return text;
}

// 32.1 %; but neither all nor nothing by rounding.
std::string percent_text(double fraction) {
  if (fraction > 0.9995 && fraction < 1) return fmt::format("{:.5g} %", std::min(99.999, 100 * fraction));
  if (fraction > 0 && fraction < 0.001) return "less than 0.1 %";
  return fmt::format("{:.1f} %", 100 * fraction);
}

std::string opening(const CpdPageContents& c) {
  const auto& modes = c.summary.modes;
  const auto names = joined(modes, " × ", [](const auto& mode) { return escape_html(mode.name); });
  const auto lengths = joined(modes, " × ", [](const auto& mode) { return with_commas(mode.extent); });
  const auto num_components = plural(std::ssize(c.summary.components), "component");
  const auto share = c.explained() < 0 ? "nothing" : percent_text(c.explained());
  return fmt::format(
      "<header class=\"opening\">\n<p class=\"kicker\">CP decomposition</p>\n<h1>{}</h1>\n"
      "<p class=\"lead\">A tensor of {} ({}) with {}, written as a sum of {} that explain{} {} of its "
      "squared norm.</p>\n"
      "<dl class=\"figures\">\n{}{}{}{}</dl>\n</header>\n",
      escape_html(c.title), lengths, names, plural(c.num_nonzeros, "nonzero"), num_components,
      c.summary.components.size() == 1 ? "s" : "", share, fact("explained", share),
      fact("fit", fmt::format("{:.4f}", c.fit())),
      fact("components", with_commas(std::ssize(c.summary.components))),
      fact("iterations", with_commas(std::ssize(c.fit_trajectory))));
}

std::vector<std::string> all_warnings(const CpdPageContents& c) {
  auto warnings = c.warnings;
  for (auto& warning : congruence_warnings(c.summary)) warnings.push_back(std::move(warning));
  return warnings;
}

std::string modes_table(const std::vector<SummarisedMode>& modes) {
  std::string html =
      "<table class=\"mode-table\">\n<thead><tr><th scope=\"col\">mode</th><th scope=\"col\" "
      "class=\"number\">length</th>"
      "<th scope=\"col\" class=\"number\">in use</th><th scope=\"col\">from … "
      "to</th></tr></thead>\n<tbody>\n";
  for (const auto& mode : modes)
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td><td class=\"number\">{}</td><td>{} … "
        "{}</td></tr>\n",
        escape_html(mode.name), with_commas(mode.extent), with_commas(mode.num_rows),
        escape_html(clip(printable(mode.first_label), 24)),
        escape_html(clip(printable(mode.last_label), 24)));
  return html + "</tbody>\n</table>\n";
}

std::string subject(const CpdPageContents& c) {
  return modes_table(c.summary.modes) + "<dl class=\"facts\">\n" + fact("file", escape_html(c.input)) +
         fact("nonzeros", with_commas(c.num_nonzeros)) + fact("norm", fmt::format("{:.6g}", c.tensor_norm)) +
         "</dl>\n";
}

std::string convergence(const CpdPageContents& c) {
  if (c.fit_trajectory.empty()) return "<p>There was no iteration.</p>\n";
  std::string html = fmt::format("<p>The run ended after {} ({}) with a fit of {:.6f}.",
                                 plural(std::ssize(c.fit_trajectory), "iteration"),
                                 escape_html(c.stop_reason), c.fit_trajectory.back());
  if (c.fit_trajectory.size() > 1)
    html += fmt::format(" The last iteration changed it by {:.2g}.",
                        c.fit_trajectory.back() - c.fit_trajectory.rbegin()[1]);
  return html + "</p>\n<figure>" + convergence_plot(c.fit_trajectory) + "</figure>\n";
}

std::string weights(const CpdPageContents& c) {
  const auto& components = c.summary.components;
  if (components.empty()) return "<p>There are no components.</p>\n";
  const Index vanished = std::ranges::count_if(components, &SummarisedComponent::vanished);
  std::string html = "<p>How much of each component is in the model.";
  if (vanished > 0) html += fmt::format(" {} vanished.", plural(vanished, "component"));
  return html + "</p>\n<figure>" + weight_plot(components, num_cards(c.summary)) + "</figure>\n";
}

std::string residual(const CpdPageContents& c) {
  const auto share = percent_text(c.explained());
  if (c.explained() < 0)
    return fmt::format(
        "<p>The model is further from the tensor than no model at all: the residual has norm {:.6g}, the "
        "tensor {:.6g} (fit {:.6f}).</p>\n",
        c.residual_norm(), c.tensor_norm, c.fit());
  std::string html = fmt::format(
      "<figure>{}</figure>\n<p>The components explain <b>{}</b> of the squared norm of the tensor. What they "
      "leave, the "
      "residual, has norm {:.6g}, where the tensor has {:.6g}: a fit of {:.6f} on a scale on which 0 is an "
      "empty model "
      "and 1 a perfect one.</p>\n",
      share_bar(c.explained(), share + " of the squared norm is explained"), share, c.residual_norm(),
      c.tensor_norm, c.fit());
  if (c.fit() < 0.5)
    html +=
        "<p class=\"note\">In sparse data a low fit is usual: components show what recurs, not every single "
        "nonzero.</p>\n";
  return html;
}

std::string components(const CpdPageContents& c) {
  return "<p class=\"note\">A component is a pattern that recurs in the data: whatever is strong in it in "
         "one mode occurs "
         "together with what is strong in the others. Numbers are entries of the factors; bars compare them "
         "within a "
         "mode, and hollow bars are negative. Modes with a scale, such as times, are drawn as lines, with "
         "the strongest "
         "entry marked; the mouse shows the value at every point.</p>\n" +
         component_cards(c.summary, c.labels);
}

std::string downloads(const CpdPageContents& c) {
  return "<p class=\"note\">The weights, and a table for every mode with a row for every index and a column "
         "for "
         "every component.</p>\n" +
         downloads_html(c.downloads,
                        "They are too large for this page: polyad cpd with --out DIR writes them as text "
                        "files.");
}

std::string computation(const CpdPageContents& c) {
  std::string order;
  for (const int mode : c.mode_order)
    order += (order.empty() ? "" : ", ") + escape_html(c.summary.modes[std::size_t(mode)].name);
  const auto processes = c.processes == 1 ? "one process" : with_commas(c.processes) + " processes";
  return "<dl class=\"facts\">\n" + fact("method", escape_html(c.method)) +
         fact("format", escape_html(c.format)) + fact("each " + c.round, escape_html(c.plan)) +
         (order.empty() ? "" : fact("order of updates", order)) +
         fact("on", device_text(c.device, c.threads, processes)) + "</dl>\n";
}

std::string costs(const CpdPageContents& c) {
  std::string html = "<table class=\"costs\">\n<tbody>\n";
  for (const auto& [phase, seconds] : c.phase_seconds) html += cost_row(phase, seconds_text(seconds));
  if (c.peak_memory_bytes > 0) html += cost_row("peak memory", with_prefix(double(c.peak_memory_bytes), "B"));
  if (c.predicted_memory_bytes > 0)
    html += cost_row("predicted memory", with_prefix(double(c.predicted_memory_bytes), "B"));
  return html + "</tbody>\n</table>\n";
}

}  // namespace

std::string cpd_page(const CpdPageContents& c) {
  Page page(c.title + ": CP decomposition", opening(c) + warnings_html(all_warnings(c)));
  page.add("subject", "Tensor", subject(c));
  page.add("residual", "Fit", residual(c));
  page.begin_pair();
  page.add("convergence", "Convergence", convergence(c));
  page.add("weights", "Weights", weights(c));
  page.end_pair();
  page.add("components", "Components", components(c));
  page.add("downloads", "Factors as csv", downloads(c));
  page.begin_pair();
  page.add("computation", "Computation", computation(c));
  page.add("costs", "Time and memory", costs(c));
  page.end_pair();
  return page.html(c.record);
}

}  // namespace polyad::report
