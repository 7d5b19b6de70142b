#include "polyad/report/statistics_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "polyad/base/progress.hpp"

namespace polyad::report {
namespace {

double mean_count(const SliceSummary& mode) {
  return mode.nonempty == 0 ? 0 : double(mode.nonzeros) / double(mode.nonempty);
}

// How many buckets of the histogram are in use.
std::size_t num_buckets(const SliceSummary& mode) {
  std::size_t used = mode.histogram.size();
  while (used > 0 && mode.histogram[used - 1] == 0) --used;
  return used;
}

// A bar per power of two, as high as its share of the slices: the mode's irregularity at a glance.
std::string sparkline(const SliceSummary& mode) {
  constexpr std::array bars{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  Index tallest = 1;
  for (const Index count : mode.histogram) tallest = std::max(tallest, count);
  std::string line;
  for (std::size_t b = 0; b < num_buckets(mode); ++b) {
    const Index count = mode.histogram[b];
    line += bars[count == 0 ? 0 : 1 + std::size_t(7 * count / tallest)];
  }
  return line;
}

}  // namespace

std::string counted(Index number, const std::string& noun) {
  return with_commas(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string counted_were(Index number, const std::string& noun) {
  return counted(number, noun) + (number == 1 ? " was" : " were");
}

std::string dims_text(std::span<const Index> dims) {
  return fmt::format("{}", fmt::join(dims, "x"));
}

nlohmann::ordered_json statistics_json(const TensorStatistics& statistics,
                                       std::span<const ModeLabels> labels) {
  nlohmann::ordered_json json;
  json["order"] = statistics.order();
  json["dims"] = statistics.dims;
  json["nnz"] = statistics.num_nonzeros;
  json["density"] = statistics.density();
  json["duplicates"] = statistics.num_duplicates;
  json["explicit_zeros"] = statistics.num_zeros;
  json["values"] = {{"min", statistics.min_value}, {"max", statistics.max_value}, {"norm", statistics.norm}};
  json["modes"] = nlohmann::ordered_json::array();
  for (std::size_t m = 0; m < statistics.modes.size(); ++m) {
    const auto& mode = statistics.modes[m];
    json["modes"].push_back({{"name", labels[m].name},
                             {"labelled", !labels[m].empty()},
                             {"length", statistics.dims[m]},
                             {"nonempty", mode.nonempty},
                             {"max", mode.max},
                             {"mean", mean_count(mode)},
                             {"histogram", std::vector<Index>(mode.histogram.begin(),
                                                              mode.histogram.begin() + num_buckets(mode))}});
  }
  const Index order = statistics.order(), nonzeros = statistics.num_nonzeros;
  json["memory_bytes"] = {{"coo", coordinate_bytes(order, nonzeros, sizeof(double))},
                          {"coo_single", coordinate_bytes(order, nonzeros, sizeof(float))}};
  return json;
}

std::string statistics_text(const TensorStatistics& statistics, std::span<const ModeLabels> labels) {
  std::string text;
  text += fmt::format("{} tensor of order {}, {}, density {:.3g}\n", dims_text(statistics.dims),
                      statistics.order(), counted(statistics.num_nonzeros, "nonzero"), statistics.density());
  text += fmt::format("values from {:.6g} to {:.6g}, norm {:.10g}", statistics.min_value,
                      statistics.max_value, statistics.norm);
  if (statistics.num_zeros > 0) text += fmt::format(", {}", counted(statistics.num_zeros, "stored zero"));
  text +=
      fmt::format("\nin memory {} as coordinates in double precision\n\n",
                  with_prefix(double(coordinate_bytes(statistics.order(), statistics.num_nonzeros, 8)), "B"));
  text += fmt::format("{:>4}  {:<12} {:>14} {:>14} {:>14} {:>12}  {}\n", "mode", "name", "length", "nonempty",
                      "largest slice", "mean slice", "slices by size, 1, 2-3, 4-7, ...");
  for (std::size_t m = 0; m < statistics.modes.size(); ++m) {
    const auto& mode = statistics.modes[m];
    text += fmt::format("{:>4}  {:<12} {:>14} {:>14} {:>14} {:>12.1f}  {}\n", m + 1,
                        labels[m].name.empty() ? "-" : labels[m].name, with_commas(statistics.dims[m]),
                        with_commas(mode.nonempty), with_commas(mode.max), mean_count(mode), sparkline(mode));
  }
  return text;
}

}  // namespace polyad::report
