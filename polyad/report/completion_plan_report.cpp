#include "polyad/report/completion_plan_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "polyad/base/error.hpp"
#include "polyad/report/plan_report.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::report {
namespace {

// The options of `complete` for a strategy.
std::vector<std::string> complete_options(const CompletionPlanRun& run, const PlannedCompletion& way) {
  std::vector<std::string> options{"-r", std::to_string(run.options.row.num_factors)};
  options.insert(options.end(), run.training_options.begin(), run.training_options.end());
  if (run.seed != CompletionPlanRun{}.seed)
    options.insert(options.end(), {"--seed", std::to_string(run.seed)});
  if (way.processes > 1)
    options.insert(options.end(), {"--by", to_string(way.by) + "s", "--partition",
                                   way.partition == "file" ? run.partition_file : way.partition, "--sync",
                                   std::to_string(way.num_sub_epochs)});
  return options;
}

nlohmann::ordered_json way_json(const CompletionPlanRun& run, const PlannedCompletion& way) {
  const Index words = run.options.row.num_words;
  nlohmann::ordered_json json;
  json["processes"] = way.processes;
  json["by"] = to_string(way.by) + "s";
  json["partition"] = way.partition;
  json["sync"] = way.num_sub_epochs;
  json["auto"] = way.is_automatic;
  json["lambda_max"] = way.costs.max_connectivity;
  json["connectivity"] = way.connectivity;
  json["lambda2"] = way.lambda2;
  json["imbalance"] = way.imbalance;
  json["progress"] = way.costs.progress;
  json["staleness_words"] = way.costs.staleness_rows * words;
  json["volume_words"] = way.costs.volume_rows * words;
  json["max_volume_words"] = way.costs.max_volume_rows * words;
  json["messages"] = way.costs.messages;
  json["max_messages"] = way.costs.max_messages;
  json["schedule_ratio"] = way.costs.schedule_ratio();
  json["predicted_seconds_per_epoch"] = way.costs.predicted_seconds;
  json["partition_seconds"] = way.partition_seconds;
  json["complete_options"] = complete_options(run, way);
  return json;
}

std::string way_text(const PlannedCompletion& way, Index words) {
  return fmt::format("{:9} {:12} {:6}{} {:12} {:9.2f} {:>14} {:>14} {:>10} {:9.2f} {:9.2f} {:11.4g} s\n",
                     to_string(way.by) + "s", way.partition, way.num_sub_epochs, way.is_automatic ? "*" : " ",
                     way.costs.max_connectivity, way.costs.progress,
                     with_commas(way.costs.staleness_rows * words),
                     with_commas(way.costs.volume_rows * words), with_commas(way.costs.messages),
                     way.costs.schedule_ratio(), 1 + way.imbalance, way.costs.predicted_seconds);
}

std::string recommended_text(const CompletionPlanRun& run) {
  if (!run.plan.recommended)
    return fmt::format(
        "nothing is recommended: with these numbers of sub-epochs staleness costs too much progress; without "
        "{}, one that does not is chosen\n",
        option_name("sync"));
  const auto& way = run.plan.ways[*run.plan.recommended];
  auto command = "recommended: " + complete_command(run, way) + "\n";
  if (way.processes == 1) return command;
  return command + "  the fastest on the way to a given error, at a progress of 0.9 or more\n";
}

}  // namespace

std::string complete_command(const CompletionPlanRun& run, const PlannedCompletion& way) {
  const auto start = way.processes == 1 ? "" : fmt::format("mpirun -n {} ", way.processes);
  auto command = fmt::format("{}polyad complete", start);
  for (const auto& file : run.input_files) command += " " + for_shell(file);
  for (const auto& option : run.input_options) command += " " + for_shell(option);
  for (const auto& option : complete_options(run, way)) command += " " + for_shell(option);
  return command;
}

nlohmann::ordered_json completion_plan_json(const CompletionPlanRun& run) {
  nlohmann::ordered_json json;
  json["users"] = run.plan.num_users;
  json["items"] = run.plan.num_items;
  json["ratings"] = run.plan.num_ratings;
  json["rank"] = run.options.row.num_factors;
  json["words_per_row"] = run.options.row.num_words;
  json["strategies"] = nlohmann::ordered_json::array();
  for (const auto& way : run.plan.ways) json["strategies"].push_back(way_json(run, way));
  json["recommended"] =
      run.plan.recommended ? nlohmann::ordered_json(*run.plan.recommended) : nlohmann::ordered_json();
  json["machine"] = run.machine;
  json["threads"] = run.threads;
  json["seconds"]["load"] = run.load_seconds;
  json["seconds"]["plan"] = run.plan_seconds;
  json["peak_memory_bytes"] = run.peak_memory_bytes;
  return json;
}

std::string completion_plan_text(const CompletionPlanRun& run) {
  auto text = fmt::format("{}, {}, {}; {} per row are communicated\n", counted(run.plan.num_users, "user"),
                          counted(run.plan.num_items, "item"), counted(run.plan.num_ratings, "rating"),
                          counted(run.options.row.num_words, "word"));
  int processes = 0;
  for (const auto& way : run.plan.ways) {
    if (way.processes != processes)
      text += fmt::format("\n{}\n{:9} {:12} {:>7} {:>12} {:>9} {:>14} {:>14} {:>10} {:>9} {:>9} {:>13}\n",
                          processes_text(way.processes), "side", "partition", "sync", "lambda max",
                          "progress", "staleness", "words", "messages", "schedule", "load", "epoch");
    processes = way.processes;
    text += way_text(way, run.options.row.num_words);
  }
  text += "\n";
  if (std::ranges::any_of(run.plan.ways, &PlannedCompletion::is_automatic))
    text += "* chosen by " + option_name("sync") + " auto. ";
  return text + "schedule and load: maximum over the processes divided by the mean\n" + recommended_text(run);
}

}  // namespace polyad::report
