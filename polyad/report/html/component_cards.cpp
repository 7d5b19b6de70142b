#include "polyad/report/html/component_cards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "polyad/report/html/plots.hpp"
#include "polyad/report/printable_text.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::report {
namespace {

using Kind = SummarisedMode::Kind;

constexpr Index max_plotted_modes = 320, max_lines = 1000;  // keep the page within a few megabytes
constexpr Index max_texts = 3000, min_texts_per_line = 10;  // of points; likewise
constexpr int max_label_cells = 80;

// What the cards of a page have in common.
struct CardStyle {
  std::span<const ModeLabels> labels;
  Index texts_per_line = 0;
};

CardStyle card_style(const ComponentSummary& summary, std::span<const ModeLabels> labels) {
  const Index lines =
      num_cards(summary) * std::ranges::count(summary.modes, Kind::ordered, &SummarisedMode::kind);
  return {labels, std::max(min_texts_per_line, max_texts / std::max<Index>(lines, 1))};
}

std::string label_html(const std::string& label, int cells = max_label_cells) {
  return escape_html(clip(printable(label), cells));
}

double largest_of(const ComponentMode& column) {
  return column.strongest.empty() ? 0 : std::abs(column.strongest[0].value);
}

std::string with_minus(std::string number) {
  if (number.starts_with('-')) number.replace(0, 1, "−");
  return number;
}

// Strongest entries as a list: name, number, and below them a bar unless a plot shows the numbers.
std::string entries_html(const ComponentMode& column, Kind kind) {
  const double largest = largest_of(column);
  const NumberColumn numbers(largest);
  std::string html = kind == Kind::ordered ? "<ol class=\"peaks\">" : "<ol class=\"entries\">";
  for (const auto& entry : column.strongest) {
    if (is_negligible(entry, largest)) break;
    html += fmt::format("<li><span>{}</span> <b>{}</b>{}</li>", label_html(entry.label),
                        with_minus(numbers.text(entry.value)),
                        kind == Kind::ordered ? "" : value_bar(entry.value, largest));
  }
  return html + "</ol>";
}

std::string mode_html(const ComponentSummary& summary, std::size_t m, const ComponentMode& column,
                      const CardStyle& style) {
  const auto& mode = summary.modes[m];
  const auto label = [&](Index index) {
    return m < style.labels.size() ? label_of(style.labels[m], index) : std::to_string(index + 1);
  };
  std::string html = fmt::format("<div class=\"mode{}\"><h4>", mode.kind == Kind::ordered ? " scale" : "") +
                     label_html(mode.name) + "</h4>";
  if (mode.kind == Kind::ordered) html += line_plot(mode, column, label, style.texts_per_line);
  return html + entries_html(column, mode.kind) + "</div>\n";
}

// What the component is about: the strongest label of every mode that has names. Points on a scale say
// little without their surroundings, so they appear only where there is nothing else, with their mode.
std::string gist(const ComponentSummary& summary, const SummarisedComponent& component) {
  if (!component.name.empty()) return "<span>" + label_html(component.name) + "</span>";
  std::string names, points;
  for (std::size_t m = 0; m < summary.modes.size(); ++m) {
    const auto& [strongest, line] = component.modes[m];
    if (strongest.empty()) continue;
    const auto label = "<span>" + label_html(strongest[0].label, 40) + "</span>";
    if (summary.modes[m].kind == Kind::categories)
      names += (names.empty() ? "" : " · ") + label;
    else
      points += (points.empty() ? "" : " · ") + label_html(summary.modes[m].name, 40) + " " + label;
  }
  return names.empty() ? points : names;
}

std::string weight_html(const SummarisedComponent& component) {
  std::string html = fmt::format("weight <b>{:.4g}</b>", component.weight);
  if (component.relative_weight < 1)
    html += fmt::format(", {:.3g} % of the largest", 100 * component.relative_weight);
  return html;
}

std::string card_html(const ComponentSummary& summary, Index r, const CardStyle& style) {
  const auto& component = summary.components[r];
  std::string html =
      fmt::format("<article class=\"card\" id=\"component-{0}\">\n<header><h3>Component {0}</h3>", r + 1);
  if (component.vanished())
    return html + "<p class=\"weight\">vanished: its weight is 0</p></header>\n</article>\n";
  html += fmt::format("<p class=\"weight\">{}</p><p class=\"gist\">{}</p></header>\n<div class=\"modes\">\n",
                      weight_html(component), gist(summary, component));
  for (std::size_t m = 0; m < summary.modes.size(); ++m)
    html += mode_html(summary, m, component.modes[m], style);
  return html + "</div>\n</article>\n";
}

std::string line_html(const ComponentSummary& summary, Index r) {
  const auto& component = summary.components[r];
  if (component.vanished()) return fmt::format("<tr><td>{}</td><td>0</td><td>vanished</td></tr>\n", r + 1);
  return fmt::format("<tr><td>{}</td><td>{:.4g}</td><td>{}</td></tr>\n", r + 1, component.weight,
                     gist(summary, component));
}

}  // namespace

Index num_cards(const ComponentSummary& summary) {
  const Index limit = std::max<Index>(10, max_plotted_modes / std::max<Index>(1, std::ssize(summary.modes)));
  return std::min(limit, std::ssize(summary.components));
}

std::string component_cards(const ComponentSummary& summary, std::span<const ModeLabels> labels) {
  const Index count = std::ssize(summary.components), cards = num_cards(summary);
  const Index lines = std::min(count, cards + max_lines);
  std::string html;
  const auto style = card_style(summary, labels);
  for (Index r = 0; r < cards; ++r) html += card_html(summary, r, style);
  if (cards == count) return html;
  html += fmt::format(
      "<h3>Components {} to {} in short</h3>\n<p class=\"note\">To keep this page small, only the first "
      "{} components are plotted; of the others the strongest label of every mode is listed.{}</p>\n",
      cards + 1, lines, cards,
      lines < count ? fmt::format(" {} more are not listed.", with_commas(count - lines)) : "");
  html +=
      "<table class=\"short\">\n<thead><tr><th scope=\"col\">#</th><th scope=\"col\">weight</th>"
      "<th scope=\"col\">strongest</th></tr></thead>\n<tbody>\n";
  for (Index r = cards; r < lines; ++r) html += line_html(summary, r);
  return html + "</tbody>\n</table>\n";
}

}  // namespace polyad::report
