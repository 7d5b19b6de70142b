#include "polyad/report/html/plan_plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "polyad/report/html/page_parts.hpp"
#include "polyad/report/html/plot_parts.hpp"
#include "polyad/report/plan_report.hpp"
#include "polyad/report/printable_text.hpp"

namespace polyad::report {
namespace {

// From one power of ten to another.
struct LogAxis {
  double low = 0, high = 1;

  double fraction_from_top(double value) const { return (high - std::log10(value)) / (high - low); }
};

LogAxis log_axis(std::span<const PlotSeries> series) {
  double minimum = std::numeric_limits<double>::infinity(), maximum = 0;
  for (const auto& one : series)
    for (const auto& [processes, value] : one.points)
      if (value > 0) minimum = std::min(minimum, value), maximum = std::max(maximum, value);
  if (maximum == 0) return {0, 0};
  const double low = std::floor(std::log10(minimum) + 1e-9), high = std::ceil(std::log10(maximum) - 1e-9);
  return {low, std::max(high, low + 1)};
}

std::string grid_of(const LogAxis& axis, const std::function<std::string(double)>& text_of) {
  constexpr double max_marks = 7;
  const double step = std::ceil((axis.high - axis.low) / max_marks);
  std::string svg;
  for (double power = axis.low; power <= axis.high; power += step) {
    const double value = std::pow(10, power);
    svg += line_across(axis.fraction_from_top(value), escape_html(text_of(value)), power == axis.low);
  }
  return svg;
}

// Where a number of processes is, from the left.
class ProcessScale {
 public:
  explicit ProcessScale(std::span<const int> counts)
      : first_(std::log2(counts.front())), last_(std::log2(counts.back())) {}

  double at(int processes) const {
    return last_ > first_ ? (std::log2(processes) - first_) / (last_ - first_) : 0.5;
  }

 private:
  double first_, last_;
};

// Marks that do not run into each other.
std::string marks_of(std::span<const int> counts, const ProcessScale& scale) {
  constexpr double min_gap = 0.13;
  std::string svg;
  double last = -1;
  for (const int count : counts) {
    const bool has_room = scale.at(count) - last > min_gap && 1 - scale.at(count) > min_gap;
    if (!has_room && count != counts.back()) continue;
    svg += mark_below(scale.at(count), std::to_string(count));
    last = scale.at(count);
  }
  return svg + name_below("number of processes");
}

std::vector<std::string> names_of(std::span<const PlotSeries> series) {
  std::vector<std::string> names;
  for (const auto& one : series) names.push_back(one.name);
  return names;
}

}  // namespace

std::string processes_plot(const std::string& title, const std::string& unit,
                           std::span<const int> process_counts, std::span<const PlotSeries> series,
                           const std::function<std::string(double)>& text_of) {
  const auto axis = log_axis(series);
  if (axis.high == axis.low) return "";
  const ProcessScale scale(process_counts);
  auto svg = fmt::format("<svg class=\"chart processes\" role=\"img\"><title>{}</title>", escape_html(title));
  svg += grid_of(axis, text_of) + name_above(escape_html(unit)) + marks_of(process_counts, scale);
  for (std::size_t s = 0; s < series.size(); ++s) {
    Curve curve;
    std::string dots;
    for (const auto& [processes, value] : series[s].points) {
      if (value <= 0) {
        curve.lift();
        continue;
      }
      curve.add(scale.at(processes), axis.fraction_from_top(value));
      dots += with_text(dot(scale.at(processes), axis.fraction_from_top(value), series_style(s)),
                        fmt::format("{}, {}: {}", series[s].name, processes_text(processes), text_of(value)));
    }
    svg += curve.svg(series_style(s)) + dots;
  }
  return svg + "</svg>" + legend(names_of(series));
}

std::string stacked_bar(std::span<const BarShare> shares, double longest) {
  std::string svg = "<svg class=\"bar stacked\" aria-hidden=\"true\">";
  double at = 0;
  for (std::size_t s = 0; s < shares.size(); ++s) {
    const double length = longest > 0 ? shares[s].seconds / longest : 0;
    svg += with_text(fmt::format("<rect class=\"part-{}\" x=\"{}\" width=\"{}\" height=\"100%\"/>", s + 1,
                                 percent(at), percent(length)),
                     fmt::format("{}: {}", shares[s].name, seconds_text(shares[s].seconds)));
    at += length;
  }
  return svg + "</svg>";
}

}  // namespace polyad::report
