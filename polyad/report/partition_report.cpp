#include "polyad/report/partition_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "polyad/report/statistics_report.hpp"

namespace polyad::report {

namespace {

// How many nets touch 1, 2, 3 to 4, 5 to 8, ... parts.
std::string lambda_text(std::span<const Index> nets_by_lambda) {
  std::string text;
  std::size_t last = 0;
  for (std::size_t first = 1; first < nets_by_lambda.size(); first = last + 1) {
    last = std::min(first <= 2 ? first : 2 * (first - 1), nets_by_lambda.size() - 1);
    Index count = 0;
    for (std::size_t lambda = first; lambda <= last; ++lambda) count += nets_by_lambda[lambda];
    if (count == 0) continue;
    const auto range = first == last ? fmt::format("{}", first) : fmt::format("{} to {}", first, last);
    text += fmt::format("{}{} in {}", text.empty() ? "" : ", ", with_commas(count), range);
  }
  return text;
}

}  // namespace

nlohmann::ordered_json partition_json(const PartitionRun& run) {
  const auto& metrics = run.partition.metrics;
  nlohmann::ordered_json json;
  json["parts"] = run.options.num_parts;
  json["model"] = run.model;
  json["method"] = to_string(run.method);
  json["metric"] =
      run.options.objective.kind == hypergraph::Objective::Kind::connectivity ? "connectivity" : "lambda2";
  json["vertices"] = run.partition.num_vertices;
  json["nets"] = run.partition.num_nets;
  json["pins"] = run.partition.num_pins;
  json["connectivity"] = metrics.connectivity;
  json["cut_nets"] = metrics.cut_nets;
  json["lambda_max"] = metrics.lambda_max;
  json["lambda2"] = metrics.lambda_power;
  json["rho"] = run.options.objective.rho;
  json["nets_by_lambda"] = metrics.nets_by_lambda;
  json["imbalance"] = metrics.imbalance;
  json["empty_parts"] = metrics.empty_parts;
  json["level"] = to_string(run.options.effort);
  json["seed"] = run.options.seed;
  json["cut_short"] = run.partition.was_cut_short;
  json["cached"] = run.was_cached;
  json["threads"] = run.threads;
  json["seconds"]["load"] = run.load_seconds;
  json["seconds"]["partition"] = run.partition_seconds;
  json["peak_memory_bytes"] = run.peak_memory_bytes;
  return json;
}

std::string partition_text(const PartitionRun& run) {
  const auto& metrics = run.partition.metrics;
  std::string imbalance;
  for (const double value : metrics.imbalance)
    imbalance += fmt::format("{}{:.1f} %", imbalance.empty() ? "" : ", ", 100 * value);
  auto text = fmt::format("{}, {}, by {}{}\n", counted(run.options.num_parts, "part"), run.model,
                          to_string(run.method), run.was_cached ? " (from the cache)" : "");
  text += fmt::format("{} {}, {}, {}\n", with_commas(run.partition.num_vertices),
                      run.partition.num_vertices == 1 ? "vertex" : "vertices",
                      counted(run.partition.num_nets, "net"), counted(run.partition.num_pins, "pin"));
  text += fmt::format("connectivity - 1   {}\n", with_commas(metrics.connectivity));
  text += fmt::format("cut nets           {}\n", with_commas(metrics.cut_nets));
  text += fmt::format("sum of lambda^{:<4} {}\n", run.options.objective.rho,
                      with_commas(Index(metrics.lambda_power)));
  text += fmt::format("nets by parts      {}\n", lambda_text(metrics.nets_by_lambda));
  text += fmt::format("heaviest part      {} above the mean", imbalance);
  if (metrics.empty_parts > 0) text += fmt::format("\nempty parts        {}", metrics.empty_parts);
  if (run.partition.was_cut_short) text += "\nended by the time limit: another run may give another result";
  return text + fmt::format("\npartitioned in {:.2f} s", run.partition_seconds);
}

}  // namespace polyad::report
