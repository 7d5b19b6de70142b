#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace polyad::report {

// Drawings for the page of a plan, as inline SVG.

// A curve with its name; points are (number of processes, value).
struct PlotSeries {
  std::string name;
  std::vector<std::pair<int, double>> points;
};

// Curves over numbers of processes, both axes by logarithm, with a list of their names below. Values of 0
// have no place and are left out; empty when nothing is left.
std::string processes_plot(const std::string& title, const std::string& unit,
                           std::span<const int> process_counts, std::span<const PlotSeries> series,
                           const std::function<std::string(double)>& text_of);

// A part of a time, with its name.
struct BarShare {
  const char* name;
  double seconds;
};
// Shares of a bar that is as long as their sum is of the longest. It decorates numbers in words.
std::string stacked_bar(std::span<const BarShare> shares, double longest);

}  // namespace polyad::report
