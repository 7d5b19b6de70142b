#include "polyad/report/plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "polyad/report/printable_text.hpp"

namespace polyad {
namespace {

// A percentage for an attribute, without needless digits.
std::string percent(double fraction) {
  return fmt::format("{:.4g}%", std::clamp(100 * fraction, 0.0, 100.0));
}

// An axis from low to high with marks at round numbers.
struct Axis {
  double low = 0, high = 1, step = 1;
  int decimals = 0;

  double position(double value) const { return (value - low) / (high - low); }
  std::string mark(double value) const { return fmt::format("{:.{}f}", value, decimals); }
};

// About so many marks, at multiples of 1, 2 or 5 times a power of ten, that enclose the values.
Axis round_axis(double low, double high, int num_marks, double least_step = 1e-7) {
  const double rough = std::max((high - low) / num_marks, least_step);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double times = rough / power;
  Axis axis;
  axis.step = power * (times <= 1.001 ? 1 : times <= 2.001 ? 2 : times <= 5.001 ? 5 : 10);
  axis.low = axis.step * std::floor(low / axis.step + 1e-9);
  axis.high = axis.step * std::ceil(high / axis.step - 1e-9);
  if (axis.high <= axis.low) axis.high = axis.low + axis.step;
  axis.decimals = std::max(0, -int(std::floor(std::log10(axis.step) + 1e-9)));
  return axis;
}

// Lines across the plot at the marks of the vertical axis.
std::string horizontal_grid(const Axis& axis, const char* name) {
  std::string svg;
  for (int i = 0; axis.low + i * axis.step <= axis.high + axis.step / 2; ++i) {
    const double value = axis.low + i * axis.step;
    const auto y = percent(1 - axis.position(value));
    svg += fmt::format("<line class=\"{}\" x1=\"0\" x2=\"100%\" y1=\"{}\" y2=\"{}\"/>",
                       i == 0 ? "axis" : "grid", y, y);
    svg += fmt::format("<text class=\"y\" x=\"-8\" y=\"{}\" dy=\".32em\">{}</text>", y, axis.mark(value));
  }
  return svg + fmt::format("<text class=\"name\" x=\"0\" y=\"0\" dy=\"-.9em\">{}</text>", name);
}

std::string mark_below(double fraction, const std::string& text) {
  return fmt::format(
      "<rect class=\"tick\" x=\"{0}\" y=\"100%\" width=\"1\" height=\"4\"/>"
      "<text class=\"x\" x=\"{0}\" y=\"100%\" dy=\"1.5em\">{1}</text>",
      percent(fraction), text);
}

std::string name_below(const char* name) {
  return fmt::format("<text class=\"x name\" x=\"50%\" y=\"100%\" dy=\"3em\">{}</text>", name);
}

// Numbers from 1 to count at round places, the first and the last among them.
std::vector<Index> round_numbers(Index count, int num_marks) {
  std::vector<Index> numbers{1};
  const auto step = std::max<Index>(1, Index(round_axis(0, double(count), num_marks, 1).step));
  for (Index n = step; n < count; n += step)
    if (n > 1 && 2 * (count - n) > step) numbers.push_back(n);
  if (count > 1) numbers.push_back(count);
  return numbers;
}

// A curve in a box of 1000 by 1000 that stretches; its points are fractions from the upper left.
class Curve {
 public:
  void add(double x, double y) {
    points_ +=
        fmt::format("{}{:.4g},{:.4g}", points_.empty() ? "" : " ", 1000 * x, 1000 * std::clamp(y, 0.0, 1.0));
  }
  std::string svg() const {
    return "<svg class=\"curve\" width=\"100%\" height=\"100%\" viewBox=\"0 0 1000 1000\" "
           "preserveAspectRatio=\"none\"><polyline points=\"" +
           points_ + "\"/></svg>";
  }

 private:
  std::string points_;
};

std::string dot(double x, double y) {
  return fmt::format("<circle class=\"dot\" cx=\"{}\" cy=\"{}\" r=\"2.5\"/>", percent(x), percent(y));
}

// Whether the line runs straight through its i-th point at one level.
bool is_flat(std::span<const LinePoint> line, std::size_t i) {
  return i > 0 && i + 1 < line.size() && line[i - 1].value == line[i].value &&
         line[i + 1].value == line[i].value;
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
  svg += horizontal_grid(axis, "fit");
  for (const Index n : round_numbers(count, 6)) svg += mark_below(x(n - 1), std::to_string(n));
  svg += name_below("iteration");
  Curve curve;
  const Index stride = (count + max_points - 1) / max_points;
  for (Index i = 0; i < count - 1; i += stride) curve.add(x(i), y(i));
  curve.add(x(count - 1), y(count - 1));
  svg += curve.svg();
  if (count <= max_dots)
    for (Index i = 0; i < count; ++i) svg += dot(x(i), y(i));
  return svg + "</svg>";
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
  svg += horizontal_grid(axis, "weight");
  for (Index r = 0; r < count; ++r) {
    const double height = axis.position(std::abs(components[r].weight));
    const auto rect = fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
                                  percent((double(r) + 0.5) * slot - bar / 2), percent(1 - height),
                                  percent(bar), percent(height));
    svg += r < num_links ? fmt::format("<a href=\"#component-{}\">{}</a>", r + 1, rect) : rect;
  }
  for (const Index n : round_numbers(count, count <= 12 ? 12 : 5))
    svg += mark_below((double(n) - 0.5) * slot, std::to_string(n));
  return svg + name_below("component") + "</svg>";
}

std::string line_plot(const SummarisedMode& mode, const ComponentMode& column) {
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
  return svg + curve.svg() + dot(x(peak.index), y(peak.value)) + "</svg>";
}

std::string value_bar(double value, double largest) {
  return fmt::format("<svg class=\"bar\" aria-hidden=\"true\"><rect{} width=\"{}\" height=\"100%\"/></svg>",
                     value < 0 ? " class=\"negative\"" : "",
                     percent(largest > 0 ? std::abs(value) / largest : 0));
}

std::string share_bar(double fraction, const std::string& description) {
  return fmt::format(
      "<svg class=\"share\" role=\"img\" aria-label=\"{}\"><rect class=\"negative\" width=\"100%\" "
      "height=\"100%\"/><rect width=\"{}\" height=\"100%\"/></svg>",
      escape_html(description), percent(fraction));
}

}  // namespace polyad
