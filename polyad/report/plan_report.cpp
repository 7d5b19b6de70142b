#include "polyad/report/plan_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "polyad/base/error.hpp"
#include "polyad/report/html/page_parts.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::report {
namespace {

constexpr std::size_t num_fastest_shown = 3;

std::vector<int> replicated_modes(const PlannedStrategy& planned) {
  std::vector<int> modes;
  for (int m = 0; m < int(planned.is_replicated.size()); ++m)
    if (planned.is_replicated[m]) modes.push_back(m + 1);
  return modes;
}

nlohmann::ordered_json spreads_json(const StrategyCost& cost, Spread StrategyCost::Mode::*column) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& mode : cost.modes)
    json.push_back({{"max", (mode.*column).max}, {"avg", (mode.*column).avg}});
  return json;
}

nlohmann::ordered_json stages_json(const StrategyCost& cost) {
  auto json = nlohmann::ordered_json::array();
  for (std::size_t m = 0; m < cost.modes.size(); ++m)
    for (std::size_t s = 0; s < cost.modes[m].stages.size(); ++s) {
      const auto& stage = cost.modes[m].stages[s];
      json.push_back({{"mode", m + 1},
                      {"stage", s + 1},
                      {"words", stage.all_words},
                      {"messages", stage.all_messages},
                      {"max_words", stage.words.max},
                      {"max_messages", stage.messages.max}});
    }
  return json;
}

nlohmann::ordered_json index_or_null(const std::optional<std::size_t>& index) {
  return index ? nlohmann::ordered_json(*index) : nlohmann::ordered_json();
}

nlohmann::ordered_json strategy_json(const PlanRun& run, const PlannedStrategy& planned) {
  const auto& [processes, strategy, is_replicated, num_stages, cost, memory, fits, seconds, break_even] =
      planned;
  const bool alone = processes == 1;
  nlohmann::ordered_json json;
  json["processes"] = processes;
  json["distribution"] = alone ? "none" : to_string(strategy.scheme);
  json["partition"] = alone ? "none" : strategy.partition;
  json["grid"] = strategy.grid ? strategy.grid->dims() : std::vector<int>(run.dims.size(), 1);
  json["policy"] = strategy.policy ? to_string(*strategy.policy) : "none";
  json["row_owners"] = strategy.row_rule ? to_string(*strategy.row_rule) : "none";
  json["replicated"] = replicated_modes(planned);
  json["exchange"] = exchange_names(planned, int(run.dims.size()));
  json["load"] = spreads_json(cost, &StrategyCost::Mode::nonzeros);
  json["volume_per_mode"] = spreads_json(cost, &StrategyCost::Mode::words);
  json["messages_per_mode"] = spreads_json(cost, &StrategyCost::Mode::messages);
  json["stages"] = stages_json(cost);
  json["volume_words"] = cost.volume_words;
  json["max_volume_words"] = cost.max_volume_words;
  json["messages"] = cost.messages;
  json["max_messages"] = cost.max_messages;
  json["all_reduced_words"] = cost.all_reduced_words;
  json["imbalance"] = {
      {"nnz", cost.imbalance.nnz}, {"volume", cost.imbalance.volume}, {"rows", cost.imbalance.rows}};
  json["memory_bytes"] = memory;
  json["fits"] = fits;
  json["predicted_seconds_per_iteration"] = planned.seconds();
  json["predicted"] = {
      {"multiply", cost.time.multiply}, {"update", cost.time.update}, {"communicate", cost.time.communicate}};
  json["partition_seconds"] = seconds;
  json["break_even_iterations"] = break_even ? nlohmann::ordered_json(*break_even) : nlohmann::ordered_json();
  json["cpd_options"] = cpd_options(run, planned);
  return json;
}

std::string table_head(int processes, std::size_t name_width) {
  return fmt::format("\n{:<{}} {:>9} {:>14} {:>10} {:>11} {:>5} {:>5} {:>5} {:>9} {:>9} {:>10}\n",
                     processes_text(processes), name_width + 2, "iteration", "words sent", "messages",
                     "all-reduced", "r_nnz", "r_vol", "r_I", "memory", "to make", "pays after");
}

std::string table_line(const PlannedStrategy& planned, bool is_recommended, std::size_t name_width) {
  const auto& cost = planned.cost;
  return fmt::format("{} {:<{}} {:>9} {:>14} {:>10} {:>11} {:>5.2f} {:>5.2f} {:>5.2f} {:>9} {:>9} {:>10}\n",
                     is_recommended ? "*"
                     : planned.fits ? " "
                                    : "!",
                     describe(planned), name_width, seconds_text(planned.seconds()),
                     with_commas(cost.volume_words), with_commas(cost.messages),
                     with_commas(cost.all_reduced_words), cost.imbalance.nnz, cost.imbalance.volume,
                     cost.imbalance.rows, with_prefix(double(planned.memory_bytes), "B"),
                     seconds_text(planned.partition_seconds),
                     planned.break_even_iterations ? with_commas(*planned.break_even_iterations) : "never");
}

std::string mode_table(const PlannedStrategy& planned) {
  const auto& cost = planned.cost;
  const auto exchange = exchange_names(planned, int(cost.modes.size()));
  auto text =
      fmt::format("{:<6} {:>12} {:>12} {:>14} {:>14} {:>10} {:>10}{}\n", "mode", "max load", "avg load",
                  "max words", "avg words", "max msgs", "avg msgs", exchange.empty() ? "" : " exchange");
  for (std::size_t m = 0; m < cost.modes.size(); ++m) {
    const auto& [nonzeros, words, messages, stages] = cost.modes[m];
    text += fmt::format("{:<6} {:>12} {:>12.1f} {:>14} {:>14.1f} {:>10} {:>10.1f}{}\n", m + 1,
                        with_commas(nonzeros.max), nonzeros.avg, with_commas(words.max), words.avg,
                        with_commas(messages.max), messages.avg, exchange.empty() ? "" : " " + exchange[m]);
  }
  return text;
}

// A table for one number of processes.
std::string table_text(const PlanRun& run, int processes) {
  const auto& strategies = run.plan.strategies;
  const auto best = run.plan.recommended_on(processes);
  const auto shown = worth_showing(run.plan, processes);
  std::size_t name_width = 26;
  for (const auto* planned : shown) name_width = std::max(name_width, describe(*planned).size());
  auto text = table_head(processes, name_width);
  for (const auto* planned : shown)
    text += table_line(*planned, best && planned == &strategies[*best], name_width);
  const Index count = std::ranges::count(strategies, processes, &PlannedStrategy::processes);
  if (count > std::ssize(shown))
    text += fmt::format("  and {} more that are slower: see {} or {}\n", count - std::ssize(shown),
                        option_name("json"), option_name("report"));
  return text;
}

}  // namespace

std::vector<std::string> cpd_options(const PlanRun& run, const PlannedStrategy& planned) {
  if (planned.processes == 1) return {};
  const auto& strategy = planned.strategy;
  std::vector<std::string> options{"--distribution", to_string(strategy.scheme)};
  const auto add = [&](const std::string& name, const std::string& value) {
    options.push_back(name);
    options.push_back(value);
  };
  if (strategy.grid) {
    using Kind = LayerPolicy::Kind;
    const auto& policy = *strategy.policy;
    add("--grid", to_string(*strategy.grid));
    if (policy.kind == Kind::ordered && policy.c > 2)
      add("--policy-c", std::to_string(policy.c));
    else
      add("--policy", to_string(policy));
  } else {
    add("--partition", strategy.partition == "file" ? run.partition : strategy.partition);
  }
  const auto& wanted = run.options.distribution;
  if (strategy.row_rule)
    add("--row-owners",
        strategy.row_rule == RowRule::file ? wanted.row_owners_file.string() : to_string(*strategy.row_rule));
  const auto modes = replicated_modes(planned);
  if (strategy.scheme != Scheme::coarse)
    add("--replicate", modes.empty() ? "none" : fmt::format("{}", fmt::join(modes, ",")));
  if (!planned.num_stages.empty()) {
    auto names = exchange_names(planned, int(run.dims.size()));
    std::ranges::replace(names, std::string("replicated"), std::string("direct"));
    add("--exchange", fmt::format("{}", fmt::join(names, ",")));
  } else if (planned.processes >= min_parts_to_route) {
    add("--exchange", "direct");
  }
  if (wanted.seed != DistributionOptions{}.seed) add("--seed", std::to_string(wanted.seed));
  return options;
}

std::string cpd_command(const PlanRun& run, const PlannedStrategy& planned) {
  const auto start = planned.processes == 1 ? "" : fmt::format("mpirun -n {} ", planned.processes);
  auto command = fmt::format("{}polyad cpd", start);
  for (const auto& file : run.input_files) command += " " + for_shell(file);
  for (const auto& option : run.input_options) command += " " + for_shell(option);
  command += fmt::format(" -r {}", run.options.num_components);
  for (const auto& option : cpd_options(run, planned)) command += " " + for_shell(option);
  return command;
}

std::vector<const PlannedStrategy*> worth_showing(const StrategyPlan& plan, int processes) {
  std::vector<const PlannedStrategy*> shown;
  std::map<std::pair<Scheme, std::string>, int> seen;
  std::size_t num_fitting = 0;
  for (const auto& planned : plan.strategies) {
    if (planned.processes != processes) continue;
    const bool is_first = seen[{planned.strategy.scheme, planned.strategy.partition}]++ == 0;
    const bool is_fast = planned.fits && num_fitting++ < num_fastest_shown;
    if (is_first || is_fast) shown.push_back(&planned);
  }
  return shown;
}

std::string for_shell(const std::string& word) {
  constexpr std::string_view harmless =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_./,:=+@%";
  if (!word.empty() && word.find_first_not_of(harmless) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string processes_text(int processes) {
  return processes == 1 ? "1 process" : with_commas(processes) + " processes";
}

std::string constants_text(const PlanRun& run) {
  const auto& machine = run.options.machine;
  return fmt::format(
      "{}: {:.3g} us a message, {:.3g} ns a word, {:.3g} a packed word, {:.3g} to {:.3g} a gathered "
      "component, "
      "{:.3g} a component squared of a solved row",
      run.machine, 1e6 * machine.per_message, 1e9 * machine.per_word, 1e9 * machine.per_packed_word,
      1e9 * machine.per_near_gather, 1e9 * machine.per_far_gather, 1e9 * machine.per_row);
}

nlohmann::ordered_json plan_json(const PlanRun& run) {
  const auto& plan = run.plan;
  nlohmann::ordered_json json;
  json["strategies"] = nlohmann::ordered_json::array();
  for (const auto& planned : plan.strategies) json["strategies"].push_back(strategy_json(run, planned));
  json["recommended"] = index_or_null(plan.recommended);
  json["reason"] = plan.reason;
  json["recommended_on"] = nlohmann::ordered_json::array();
  for (const int processes : run.options.process_counts)
    json["recommended_on"].push_back(
        {{"processes", processes}, {"recommended", index_or_null(plan.recommended_on(processes))}});
  json["rank"] = run.options.num_components;
  json["seed"] = run.options.distribution.seed;
  json["dims"] = run.dims;
  json["nnz"] = plan.num_nonzeros;
  json["duplicates"] = plan.num_duplicates;
  json["memory_limit_bytes"] =
      run.options.max_bytes > 0 ? nlohmann::ordered_json(run.options.max_bytes) : nlohmann::ordered_json();
  json["machine"] = run.machine;
  json["threads_per_process"] = run.options.machine.threads;
  const int per_machine = run.options.processes_per_machine;
  json["processes_per_machine"] =
      per_machine > 0 ? nlohmann::ordered_json(per_machine) : nlohmann::ordered_json();
  json["threads"] = run.threads;
  json["seconds"] = {{"load", run.load_seconds},
                     {"count", plan.timings.seconds("count")},
                     {"plan", plan.timings.seconds("plan")}};
  json["peak_memory_bytes"] = run.peak_memory_bytes;
  return json;
}

std::string plan_text(const PlanRun& run) {
  const auto& plan = run.plan;
  auto text = fmt::format("{} tensor, {}, {}", dims_text(run.dims), counted(plan.num_nonzeros, "nonzero"),
                          counted(run.options.num_components, "component"));
  if (run.options.max_bytes > 0)
    text += fmt::format(", {} for each process", with_prefix(double(run.options.max_bytes), "B"));
  text += "\n";
  for (const int processes : run.options.process_counts) text += table_text(run, processes);
  text += "\n";
  if (plan.recommended) {
    const auto& best = plan.strategies[*plan.recommended];
    const auto& grid = best.strategy.grid;
    const bool has_idle = grid && grid->size() < best.processes;
    text += fmt::format("recommended: {}{}{}: {}\n",
                        best.processes == 1 ? "" : processes_text(best.processes) + ", ", describe(best),
                        has_idle ? fmt::format(" on {} of them", grid->size()) : "", plan.reason);
    text += fmt::format("  {}\n\n{}", cpd_command(run, best), mode_table(best));
  } else {
    text += fmt::format("no recommendation: {}\n", plan.reason);
  }
  text += fmt::format("\nconstants {}\nseconds: load {:.2f}, count {:.2f}, plan {:.2f}; peak memory {}",
                      constants_text(run), run.load_seconds, plan.timings.seconds("count"),
                      plan.timings.seconds("plan"), with_prefix(double(run.peak_memory_bytes), "B"));
  return text;
}

}  // namespace polyad::report
