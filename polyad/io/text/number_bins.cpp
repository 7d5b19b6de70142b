#include "polyad/io/text/number_bins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

constexpr double most_distant_bin = 1e13;  // whose bounds still differ in 15 digits

std::string bound_text(double bin, double width) {
  const double bound = bin * width;
  return fmt::format("{:.15g}", bound == 0 ? 0 : bound);
}

double bound(double bin, double width) {
  return *parse_real(bound_text(bin, width));
}

std::string label_of_bin(double bin, double width) {
  return fmt::format("[{}, {})", bound_text(bin, width), bound_text(bin + 1, width));
}

double bin_of_number(double number, double width) {
  double bin = std::floor(number / width);
  constexpr double exact = 0x1p50;
  if (std::abs(number) < exact && number == std::floor(number) && width == std::floor(width)) return bin;
  const double distance = std::abs(number / width - std::round(number / width));
  constexpr double near = 1e-9;  // to a bound: the division may have rounded across it
  if (distance > near * std::max(1.0, std::abs(bin))) return bin;
  if (number >= bound(bin + 1, width)) ++bin;
  if (number < bound(bin, width)) --bin;
  return bin;
}

// The bounds of "[1, 5)" or "[12, 40]".
std::optional<std::pair<double, double>> bounds_of(std::string_view label) {
  const auto comma = label.find(", ");
  if (!label.starts_with('[') || comma == std::string_view::npos) return std::nullopt;
  const auto lower = parse_real(label.substr(1, comma - 1));
  const auto upper = parse_real(label.substr(comma + 2, label.size() - comma - 3));
  if (!lower || !upper) return std::nullopt;
  return std::pair(*lower, *upper);
}

}  // namespace

std::string number_label(double number) {
  return fmt::format("{}", number == 0 ? 0.0 : number);
}

std::string width_label(double number, double width) {
  if (!(std::abs(number / width) < most_distant_bin)) return {};
  return label_of_bin(bin_of_number(number, width), width);
}

std::vector<std::string> complete_width_bins(const std::vector<std::string>& labels, double width,
                                             const std::string& name) {
  if (labels.empty()) return {};
  std::vector<double> bins;
  for (const auto& label : labels) bins.push_back(std::round(bounds_of(label)->first / width));
  const auto [first, last] = std::ranges::minmax(bins);
  constexpr double most = 1 << 20;
  if (last - first >= most)
    throw Error(Errc::bad_input,
                fmt::format("the numbers in the column '{}' extend from {} to {}: expected at most {} bins; "
                            "those of a larger width are fewer",
                            name, label_of_bin(first, width), label_of_bin(last, width), most));
  std::vector<std::string> all;
  for (double bin = first; bin <= last; ++bin) all.push_back(label_of_bin(bin, width));
  return all;
}

void sort_numbers(std::vector<std::string>& labels) {
  std::ranges::sort(labels, {}, [](const std::string& label) { return *parse_real(label); });
}

QuantileBins quantile_bins(std::span<const std::string> numbers, std::span<const Index> counts,
                           Index num_bins) {
  Index all = 0, smaller = 0, last_bin = -1;
  for (const Index count : counts) all += count;
  QuantileBins bins;
  std::vector<std::size_t> firsts;  // of each bin
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto bin = Index(static_cast<__int128>(num_bins) * smaller / std::max<Index>(all, 1));
    if (bin != std::exchange(last_bin, bin)) firsts.push_back(i);
    bins.bin_of.push_back(std::ssize(firsts) - 1);
    smaller += counts[i];
  }
  for (std::size_t b = 0; b < firsts.size(); ++b)
    bins.labels.push_back(b + 1 < firsts.size()
                              ? fmt::format("[{}, {})", numbers[firsts[b]], numbers[firsts[b + 1]])
                              : fmt::format("[{}, {}]", numbers[firsts[b]], numbers.back()));
  return bins;
}

Intervals::Intervals(std::span<const std::string> labels) {
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (const auto bounds = bounds_of(labels[i]))
      intervals_.push_back({bounds->first, bounds->second, labels[i].ends_with(']'), Index(i)});
  std::ranges::sort(intervals_, {}, &Interval::lower);
}

Index Intervals::find(double number) const {
  const auto above = std::ranges::upper_bound(intervals_, number, {}, &Interval::lower);
  if (above == intervals_.begin()) return -1;
  const auto& found = *(above - 1);
  return number < found.upper || (found.is_closed && number == found.upper) ? found.place : -1;
}

}  // namespace polyad::io
