#include "polyad/report/prediction_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "polyad/report/printable_text.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::report {
namespace {

using Json = nlohmann::ordered_json;

bool has_label(const ModeLabels& mode, Index index) {
  return index < Index(mode.labels.size());
}

// Labels as texts, indices as numbers from 1.
Json coordinate_json(const std::vector<Index>& coordinate, std::span<const ModeLabels> labels) {
  auto list = Json::array();
  for (std::size_t m = 0; m < coordinate.size(); ++m) {
    if (has_label(labels[m], coordinate[m]))
      list.push_back(labels[m].labels[coordinate[m]]);
    else
      list.push_back(coordinate[m] + 1);
  }
  return list;
}

std::string coordinate_text(const std::vector<Index>& coordinate, std::span<const ModeLabels> labels) {
  constexpr int widest = 30;
  std::string text;
  for (std::size_t m = 0; m < coordinate.size(); ++m) {
    text += text.empty() ? "" : ", ";
    text += has_label(labels[m], coordinate[m]) ? clip(printable(labels[m].labels[coordinate[m]]), widest)
                                                : fmt::format("{}", coordinate[m] + 1);
  }
  return text;
}

Json number_or_null(bool is_known, double number) {
  return is_known ? Json(number) : Json();
}

Json range_json(const RatingRange& range) {
  return std::isfinite(range.least) ? Json::array({range.least, range.largest}) : Json::array();
}

Json largest_json(const PredictionSummary& summary, std::span<const ModeLabels> labels) {
  auto list = Json::array();
  for (const auto& large : summary.largest)
    list.push_back({{"coordinates", coordinate_json(large.coordinate, labels)},
                    {"prediction", large.prediction},
                    {"value", large.value},
                    {"residual", large.residual}});
  return list;
}

std::string error_text(const PredictionSummary& summary) {
  const auto relative = summary.relative_error();
  return fmt::format("RMSE {:.6g}, MAE {:.6g}, relative error {}", summary.residuals.root_mean_square(),
                     summary.residuals.mean(),
                     relative ? fmt::format("{:.6g}", *relative) : "infinite: all values are 0");
}

// A table; empty when no residual is wanted.
std::string largest_text(const PredictionSummary& summary, std::span<const ModeLabels> labels) {
  if (summary.largest.empty()) return "";
  std::string text = fmt::format("\n{:>12} {:>12} {:>12}  at", "residual", "value", "prediction");
  for (const auto& large : summary.largest)
    text += fmt::format("\n{:>12.5g} {:>12.5g} {:>12.5g}  {}", large.residual, large.value, large.prediction,
                        coordinate_text(large.coordinate, labels));
  return text;
}

}  // namespace

Json prediction_json(const PredictionRun& run, std::span<const ModeLabels> labels) {
  const auto& summary = run.summary;
  const bool known = summary.has_values && summary.num_coordinates > 0;
  const auto relative = summary.relative_error();
  return {{"count", summary.num_coordinates},
          {"unknown", run.num_unknown},
          {"estimated", summary.num_estimated},
          {"clipped", summary.num_clipped},
          {"clipped_to", range_json(run.range)},
          {"duplicates", run.num_duplicates},
          {"duplicate_rule", to_string(run.duplicate_rule)},
          {"transform", to_string(run.transform)},
          {"dims", run.dims},
          {"components", run.num_components},
          {"with_values", summary.has_values},
          {"rmse", number_or_null(known, summary.residuals.root_mean_square())},
          {"mae", number_or_null(known, summary.residuals.mean())},
          {"relative_error", number_or_null(known && relative, relative.value_or(0))},
          {"residual_norm", number_or_null(known, summary.residuals.norm())},
          {"value_norm", number_or_null(known, summary.values.norm())},
          {"largest_residuals", largest_json(summary, labels)}};
}

std::string prediction_text(const PredictionRun& run, std::span<const ModeLabels> labels) {
  const auto& summary = run.summary;
  std::string text =
      fmt::format("{} model, {}: {}", dims_text(run.dims), counted(run.num_components, "component"),
                  counted(summary.num_coordinates, "prediction"));
  if (run.num_unknown > 0)
    text += fmt::format("; {} left out that it does not have", counted_were(run.num_unknown, "coordinate"));
  if (summary.num_clipped > 0)
    text += fmt::format("; {} clipped to {:.4g} to {:.4g}", counted_were(summary.num_clipped, "prediction"),
                        run.range.least, run.range.largest);
  if (!summary.has_values) return text + "; no values to compare with";
  if (summary.num_coordinates == 0) return text;
  return text + "\n" + error_text(summary) + largest_text(summary, labels);
}

}  // namespace polyad::report
