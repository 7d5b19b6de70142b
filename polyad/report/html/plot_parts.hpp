#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad::report {

// What plots are put together from, as inline SVG. Positions are percentages of a box that the style sheet
// sizes; fractions count from its upper left.

// A percentage for an attribute, without needless digits.
std::string percent(double fraction);

// An axis from low to high with marks at round numbers.
struct Axis {
  double low = 0, high = 1, step = 1;
  int decimals = 0;

  double position(double value) const { return (value - low) / (high - low); }
  std::string mark(double value) const;
};
// About this number of marks, at multiples of 1, 2 or 5 times a power of ten, that enclose the values.
Axis round_axis(double low, double high, int num_marks, double min_step = 1e-7);

// A line across the plot, at a fraction from the top, with its text beside it.
std::string line_across(double fraction, const std::string& text, bool is_axis);
std::string name_above(const std::string& name);
// Lines across the plot at the marks of the vertical axis; `text_of` a mark, unless it is its number.
std::string horizontal_grid(const Axis& axis, const std::string& name,
                            const std::function<std::string(double)>& text_of = {});
// A line from the top to the bottom, at a fraction from the left, with its text beside its upper end, in
// the first line there or in a lower one.
std::string line_down(double fraction, const std::string& text, const std::string& style, int text_line = 1);
std::string mark_below(double fraction, const std::string& text);
std::string name_below(const std::string& name);

// Numbers from 1 to count at round places, the first and the last among them.
std::vector<Index> round_numbers(Index count, int num_marks);

// A curve in a box of 1000 by 1000 that stretches.
class Curve {
 public:
  void add(double x, double y);
  // What is added next is not joined to what was there.
  void lift() { lines_.emplace_back(); }
  // Of a style of its own, if there are several.
  std::string svg(const std::string& style = "") const;

 private:
  std::vector<std::string> lines_{""};  // their points
};

// Texts that a browser shows, without a script, where the mouse rests above or below a point of a plot.
class PointTexts {
 public:
  // From left to right; x is a fraction of the width.
  void add(double x, std::string text) { points_.emplace_back(x, std::move(text)); }
  std::string svg() const;

 private:
  std::vector<std::pair<double, std::string>> points_;
};
// An element with its text: of a point or a bar of a plot. `element` ends in "/>".
std::string with_text(std::string element, const std::string& text);

// The style of a curve among several.
std::string series_style(std::size_t series);
// Their names, each with a sample of its curve.
std::string legend(std::span<const std::string> names);

std::string dot(double x, double y, const std::string& style = "");

}  // namespace polyad::report
