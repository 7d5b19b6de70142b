#include "polyad/report/html/plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "polyad/report/html/plot_parts.hpp"
#include "polyad/report/printable_text.hpp"

namespace polyad::report {
namespace {

// Whether the line runs straight through its i-th point at one level.
bool is_flat(std::span<const kernels::FactorEntry> line, std::size_t i) {
  return i > 0 && i + 1 < line.size() && line[i - 1].value == line[i].value &&
         line[i + 1].value == line[i].value;
}

// At most this number of points of a line, the strongest of neighbours.
std::vector<kernels::FactorEntry> strongest_of(std::span<const kernels::FactorEntry> line, Index most) {
  const auto stride = std::size_t(std::max<Index>(1, (std::ssize(line) + most - 1) / most));
  std::vector<kernels::FactorEntry> kept;
  for (std::size_t i = 0; i < line.size(); i += stride)
    kept.push_back(*std::ranges::max_element(line.subspan(i, std::min(stride, line.size() - i)), {},
                                             [](const auto& point) { return std::abs(point.value); }));
  return kept;
}

}  // namespace

std::string convergence_plot(std::span<const double> fit_trajectory) {
  constexpr Index max_points = 500;
  constexpr Index max_dots = 60;
  const Index count = std::ssize(fit_trajectory);
  const auto [low, high] = std::ranges::minmax(fit_trajectory);
  const Axis axis = round_axis(low, high, 4);
  const auto x = [&](Index i) { return count > 1 ? double(i) / double(count - 1) : 0.5; };
  const auto y = [&](Index i) { return 1 - axis.position(fit_trajectory[i]); };

  std::string svg = fmt::format(
      "<svg class=\"chart\" role=\"img\"><title>Fit after each iteration</title><desc>The fit begins at "
      "{:.6g} and "
      "ends at {:.6g} after {} iterations.</desc>",
      fit_trajectory[0], fit_trajectory[count - 1], count);
  svg += horizontal_grid(axis, "fit (1: exact)");
  for (const Index n : round_numbers(count, 6)) svg += mark_below(x(n - 1), std::to_string(n));
  svg += name_below("iteration");
  Curve curve;
  PointTexts texts;
  const auto add = [&](Index i) {
    curve.add(x(i), y(i));
    texts.add(x(i), fmt::format("iteration {}: fit {:.6g}", i + 1, fit_trajectory[i]));
  };
  const Index stride = (count + max_points - 1) / max_points;
  for (Index i = 0; i < count - 1; i += stride) add(i);
  add(count - 1);
  svg += curve.svg();
  if (count <= max_dots)
    for (Index i = 0; i < count; ++i) svg += dot(x(i), y(i));
  return svg + texts.svg() + "</svg>";
}

std::string weight_plot(std::span<const SummarisedComponent> components, Index num_links) {
  const Index count = std::ssize(components);
  double largest = 0;
  for (const auto& component : components) largest = std::max(largest, std::abs(component.weight));
  const Axis axis = round_axis(0, largest > 0 ? largest : 1, 3, 0);
  const double slot = 1 / double(count), bar = std::min(0.72 * slot, 0.05);

  std::string svg = fmt::format(
      "<svg class=\"chart weights\" role=\"img\"><title>Weights of the components</title><desc>{} bars; the "
      "largest "
      "weight is {:.6g}.</desc>",
      count, largest);
  svg += horizontal_grid(axis, "weight (norm of the component)");
  for (Index r = 0; r < count; ++r) {
    const double height = axis.position(std::abs(components[r].weight));
    const auto rect = with_text(fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
                                            percent((double(r) + 0.5) * slot - bar / 2), percent(1 - height),
                                            percent(bar), percent(height)),
                                fmt::format("component {}: weight {:.6g}", r + 1, components[r].weight));
    svg += r < num_links ? fmt::format("<a href=\"#component-{}\">{}</a>", r + 1, rect) : rect;
  }
  for (const Index n : round_numbers(count, count <= 12 ? 12 : 5))
    svg += mark_below((double(n) - 0.5) * slot, std::to_string(n));
  return svg + name_below("component") + "</svg>";
}

std::string line_plot(const SummarisedMode& mode, const ComponentMode& column, const LabelOf& label_of,
                      Index max_texts) {
  if (column.line.empty() || column.strongest.empty()) return "";
  double low = 0, high = 0;
  for (const auto& point : column.line) {
    low = std::min(low, point.value);
    high = std::max(high, point.value);
  }
  const auto x = [&](Index index) { return mode.extent > 1 ? double(index) / double(mode.extent - 1) : 0.5; };
  const auto y = [&](double value) { return (high - value) / (high - low); };
  const auto& peak = column.strongest[0];
  const NumberColumn numbers(std::abs(peak.value));

  const auto from = escape_html(clip(printable(mode.first_label), 16));
  const auto to = escape_html(clip(printable(mode.last_label), 16));
  std::string svg = fmt::format(
      "<svg class=\"line\" role=\"img\" aria-label=\"{} from {} to {}: strongest at {} with {}\">",
      escape_html(clip(printable(mode.name), 40)), from, to, escape_html(clip(printable(peak.label), 40)),
      numbers.text(peak.value));
  svg += name_above("entry of the factor") +
         fmt::format("<text class=\"x name\" x=\"50%\" y=\"100%\" dy=\"1.4em\">{}</text>",
                     escape_html(clip(printable(mode.name), 16)));
  svg += fmt::format("<line class=\"axis\" x1=\"0\" x2=\"100%\" y1=\"{0}\" y2=\"{0}\"/>", percent(y(0)));
  if (high > 0.1 * -low)
    svg += fmt::format("<text class=\"y\" x=\"-6\" y=\"0\" dy=\".32em\">{}</text>", numbers.text(high));
  if (-low > 0.1 * high)
    svg += fmt::format("<text class=\"y\" x=\"-6\" y=\"100%\" dy=\".32em\">{}</text>", numbers.text(low));
  svg += fmt::format("<text class=\"from\" x=\"0\" y=\"100%\" dy=\"1.4em\">{}</text>", from);
  if (mode.extent > 1)
    svg += fmt::format("<text class=\"to\" x=\"100%\" y=\"100%\" dy=\"1.4em\">{}</text>", to);
  Curve curve;
  for (std::size_t i = 0; i < column.line.size(); ++i)
    if (!is_flat(column.line, i)) curve.add(x(column.line[i].index), y(column.line[i].value));
  PointTexts texts;
  for (const auto& [index, value] : strongest_of(column.line, max_texts))
    texts.add(x(index), fmt::format("{}: {}", clip(printable(label_of(index)), 40), numbers.text(value)));
  return svg + curve.svg() + dot(x(peak.index), y(peak.value)) + texts.svg() + "</svg>";
}

std::string value_bar(double value, double largest) {
  return fmt::format("<svg class=\"bar\" aria-hidden=\"true\"><rect{} width=\"{}\" height=\"100%\"/></svg>",
                     value < 0 ? " class=\"negative\"" : "",
                     percent(largest > 0 ? std::abs(value) / largest : 0));
}

std::string share_bar(double fraction, const std::string& description) {
  return fmt::format(
      "<svg class=\"share\" role=\"img\"><title>{}</title><rect class=\"negative\" width=\"100%\" "
      "height=\"100%\"/><rect width=\"{}\" height=\"100%\"/><text class=\"from\" x=\"0\" y=\"100%\" "
      "dy=\"1.4em\">0 %</text><text class=\"x name\" x=\"50%\" y=\"100%\" dy=\"1.4em\">share of the squared "
      "norm</text><text class=\"to\" x=\"100%\" y=\"100%\" dy=\"1.4em\">100 %</text></svg>",
      escape_html(description), percent(fraction));
}

}  // namespace polyad::report
