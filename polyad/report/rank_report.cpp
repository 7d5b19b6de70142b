#include "polyad/report/rank_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "polyad/report/statistics_report.hpp"

namespace polyad::report {
namespace {

// null where there is none.
nlohmann::ordered_json or_null(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

std::string or_dash(const std::optional<double>& value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "-";
}

nlohmann::ordered_json count_json(const CountEvidence& evidence) {
  nlohmann::ordered_json json;
  json["components"] = evidence.num_components;
  json["fit"] = evidence.best_fit();
  json["mean_fit"] = evidence.mean_fit();
  json["fits"] = evidence.fits;
  json["held_out_error"] = or_null(evidence.held_out_error());
  json["held_out_errors"] = evidence.held_out_errors;
  json["known_fits"] = evidence.known_fits;
  json["core_consistency"] = or_null(evidence.core_consistency);
  json["stability"] = or_null(evidence.stability);
  json["iterations"] = evidence.iterations;
  json["format"] = evidence.format;
  return json;
}

std::vector<int> nonnegative_modes(const CpAlsOptions& als) {
  std::vector<int> modes;
  for (int m = 0; m < int(als.nonnegative.size()); ++m)
    if (als.nonnegative[m]) modes.push_back(m + 1);
  return modes;
}

std::string recommended_text(std::optional<Index> count) {
  if (!count) return "no recommendation";
  return "recommended: " + counted(*count, "component");
}

// A core that is far off says no more than one that is off.
std::string core_consistency_text(const std::optional<double>& value) {
  constexpr double hopeless = -100;
  return value && *value < hopeless ? fmt::format("< {}", hopeless) : or_dash(value, 1);
}

}  // namespace

nlohmann::ordered_json rank_json(const RankRun& run) {
  const auto& als = run.options.decompose.als;
  nlohmann::ordered_json json;
  const auto& recommended = run.result.recommendation.num_components;
  json["recommended"] = recommended ? nlohmann::ordered_json(*recommended) : nlohmann::ordered_json();
  json["reason"] = run.result.recommendation.reason;
  json["counts"] = nlohmann::ordered_json::array();
  for (const auto& evidence : run.result.evidence) json["counts"].push_back(count_json(evidence));
  json["starts"] = run.options.num_starts;
  json["held_out"] = {{"fraction", run.options.held_out},
                      {"nonzeros", run.result.num_held_out_nonzeros},
                      {"zeros", run.result.num_held_out_zeros}};
  json["seed"] = als.seed;
  json["max_iterations"] = als.max_iterations;
  json["tolerance"] = als.tolerance;
  json["nonneg"] = nonnegative_modes(als);
  json["dims"] = run.result.dims;
  json["nnz"] = run.result.num_nonzeros;
  json["duplicates"] = run.result.num_duplicates;
  json["precision"] = run.precision;
  json["processes"] = run.processes;
  json["threads"] = run.threads;
  json["seconds"]["load"] = run.load_seconds;
  for (const char* phase : {"compress", "fit", "predict", "core", "compare"})
    json["seconds"][phase] = run.result.timings.seconds(phase);
  json["peak_memory_bytes"] = run.peak_memory_bytes;
  return json;
}

std::string rank_table_head() {
  return fmt::format("{:>10} {:>9} {:>9} {:>15} {:>16} {:>9}", "components", "best fit", "mean fit",
                     "held-out error", "core consistency", "stability");
}

std::string rank_table_line(const CountEvidence& evidence) {
  return fmt::format("{:>10} {:>9.4f} {:>9.4f} {:>15} {:>16} {:>9}", evidence.num_components,
                     evidence.best_fit(), evidence.mean_fit(), or_dash(evidence.held_out_error(), 4),
                     core_consistency_text(evidence.core_consistency), or_dash(evidence.stability, 3));
}

std::string rank_text(const RankRun& run) {
  const auto& result = run.result;
  std::string text = fmt::format("{}: {}\n\n", recommended_text(result.recommendation.num_components),
                                 result.recommendation.reason);
  text += fmt::format("{} tensor, {}, {} each, {} precision, {}", dims_text(result.dims),
                      counted(result.num_nonzeros, "nonzero"), counted(run.options.num_starts, "start"),
                      run.precision, counted(run.threads, "thread"));
  if (result.num_held_out_nonzeros > 0)
    text += fmt::format("; held out {} and {}", counted(result.num_held_out_nonzeros, "nonzero"),
                        counted(result.num_held_out_zeros, "zero"));
  text += fmt::format(
      "\nseconds: load {:.2f}, compress {:.2f}, fit {:.2f}, predict {:.2f}, core {:.2f}; peak memory {}",
      run.load_seconds, result.timings.seconds("compress"), result.timings.seconds("fit"),
      result.timings.seconds("predict"), result.timings.seconds("core"),
      with_prefix(double(run.peak_memory_bytes), "B"));
  return text;
}

}  // namespace polyad::report
