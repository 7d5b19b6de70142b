#include "polyad/report/html/plot_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "polyad/report/printable_text.hpp"

namespace polyad::report {

std::string percent(double fraction) {
  return fmt::format("{:.4g}%", std::clamp(100 * fraction, 0.0, 100.0));
}

std::string Axis::mark(double value) const {
  return fmt::format("{:.{}f}", value, decimals);
}

Axis round_axis(double low, double high, int num_marks, double min_step) {
  const double rough = std::max((high - low) / num_marks, min_step);
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

std::string line_across(double fraction, const std::string& text, bool is_axis) {
  const auto y = percent(fraction);
  return fmt::format(
      "<line class=\"{}\" x1=\"0\" x2=\"100%\" y1=\"{}\" y2=\"{}\"/>"
      "<text class=\"y\" x=\"-8\" y=\"{}\" dy=\".32em\">{}</text>",
      is_axis ? "axis" : "grid", y, y, y, text);
}

std::string name_above(const std::string& name) {
  return fmt::format("<text class=\"name\" x=\"0\" y=\"0\" dy=\"-.9em\">{}</text>", name);
}

std::string horizontal_grid(const Axis& axis, const std::string& name,
                            const std::function<std::string(double)>& text_of) {
  std::string svg;
  for (int i = 0; axis.low + i * axis.step <= axis.high + axis.step / 2; ++i) {
    const double value = axis.low + i * axis.step;
    svg += line_across(1 - axis.position(value), text_of ? text_of(value) : axis.mark(value), i == 0);
  }
  return svg + name_above(name);
}

std::string line_down(double fraction, const std::string& text, const std::string& style, int text_line) {
  const bool is_right = fraction > 0.5;
  return fmt::format(
      "<line class=\"{0}\" x1=\"{1}\" x2=\"{1}\" y1=\"0\" y2=\"100%\"/>"
      "<text class=\"{2}\" x=\"{1}\" y=\"0\" dx=\"{3}\" dy=\"{4}em\">{5}</text>",
      style, percent(fraction), is_right ? "to" : "from", is_right ? -5 : 5, text_line, text);
}

std::string mark_below(double fraction, const std::string& text) {
  return fmt::format(
      "<rect class=\"tick\" x=\"{0}\" y=\"100%\" width=\"1\" height=\"4\"/>"
      "<text class=\"x\" x=\"{0}\" y=\"100%\" dy=\"1.5em\">{1}</text>",
      percent(fraction), text);
}

std::string name_below(const std::string& name) {
  return fmt::format("<text class=\"x name\" x=\"50%\" y=\"100%\" dy=\"3em\">{}</text>", name);
}

std::vector<Index> round_numbers(Index count, int num_marks) {
  std::vector<Index> numbers{1};
  const auto step = std::max<Index>(1, Index(round_axis(0, double(count), num_marks, 1).step));
  for (Index n = step; n < count; n += step)
    if (n > 1 && 2 * (count - n) > step) numbers.push_back(n);
  if (count > 1) numbers.push_back(count);
  return numbers;
}

void Curve::add(double x, double y) {
  auto& points = lines_.back();
  points +=
      fmt::format("{}{:.4g},{:.4g}", points.empty() ? "" : " ", 1000 * x, 1000 * std::clamp(y, 0.0, 1.0));
}

std::string Curve::svg(const std::string& style) const {
  auto svg = fmt::format(
      "<svg class=\"curve{}\" width=\"100%\" height=\"100%\" viewBox=\"0 0 1000 1000\" "
      "preserveAspectRatio=\"none\">",
      style.empty() ? "" : " " + style);
  for (const auto& points : lines_)
    if (!points.empty()) svg += "<polyline points=\"" + points + "\"/>";
  return svg + "</svg>";
}

std::string PointTexts::svg() const {
  if (points_.empty()) return "";
  std::string svg =
      "<svg class=\"texts\" width=\"100%\" height=\"100%\" viewBox=\"0 0 1000 1000\" "
      "preserveAspectRatio=\"none\">";
  double left = 0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const auto& [x, text] = points_[i];
    const double right = i + 1 < points_.size() ? 500 * (x + points_[i + 1].first) : 1000;
    svg += with_text(fmt::format("<rect x=\"{:.4g}\" width=\"{:.4g}\" height=\"1000\"/>", left,
                                 std::max(right - left, 0.0)),
                     text);
    left = right;
  }
  return svg + "</svg>";
}

std::string with_text(std::string element, const std::string& text) {
  const auto name_end = element.find(' ');
  element.replace(element.size() - 2, 2, "><title>" + escape_html(text) + "</title>");
  return element + "</" + element.substr(1, name_end - 1) + ">";
}

std::string series_style(std::size_t series) {
  constexpr std::size_t num_styles = 7;  // that the style sheet has
  return fmt::format("series-{}", series % num_styles + 1);
}

std::string legend(std::span<const std::string> names) {
  std::string html = "<ul class=\"legend\">";
  for (std::size_t s = 0; s < names.size(); ++s)
    html += fmt::format(
        "<li><svg class=\"sample {}\" viewBox=\"0 0 28 8\" aria-hidden=\"true\"><polyline points=\"0,4 "
        "28,4\"/>"
        "</svg> {}</li>",
        series_style(s), escape_html(names[s]));
  return html + "</ul>";
}

std::string dot(double x, double y, const std::string& style) {
  return fmt::format("<circle class=\"dot{}\" cx=\"{}\" cy=\"{}\" r=\"2.5\"/>",
                     style.empty() ? "" : " " + style, percent(x), percent(y));
}

}  // namespace polyad::report
