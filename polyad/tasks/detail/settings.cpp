#include "polyad/tasks/detail/settings.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string_view>
#include <utility>

#include "polyad/base/parallel.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/report/plan_report.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/cp_model_state.hpp"
#include "polyad/tasks/detail/ratings/list_model.hpp"
#include "polyad/tasks/detail/ratings/prepare_ratings.hpp"
#include "polyad/version.hpp"

namespace polyad::tasks {
namespace {

// Every function below takes its options apart by structured bindings: they do not compile when a struct has
// got a member that is not named here. Add the new member to the list of settings too.

using Settings = std::vector<Setting>;

void add(Settings& settings, std::string_view field, std::string value) {
  settings.push_back({option_name(field), std::move(value)});
}

std::string text_of(double value) {
  return fmt::format("{}", value);
}

std::string text_of(bool value) {
  return value ? "yes" : "no";
}

std::string text_of(Precision precision) {
  return precision == Precision::float32 ? "single" : "double";
}

std::string text_of(DistributedSide side) {
  return side == DistributedSide::automatic ? "auto" : side == DistributedSide::users ? "users" : "items";
}

std::string or_else(const std::string& text, const char* if_empty) {
  return text.empty() ? if_empty : text;
}

std::string memory_text(Index bytes) {
  return bytes == 0 ? "no limit" : with_prefix(double(bytes), "B");
}

std::string cache_text(const std::filesystem::path& cache) {
  return or_else(cache.string(), "the user's cache folder");
}

// Modes count from 1 where people read them.
std::string modes_text(std::vector<int> modes) {
  for (int& mode : modes) ++mode;
  return fmt::format("{}", fmt::join(modes, ","));
}

std::string modes_text(const std::vector<bool>& flags) {
  std::vector<int> modes;
  for (int mode = 0; mode < std::ssize(flags); ++mode)
    if (flags[mode]) modes.push_back(mode);
  return or_else(modes_text(modes), "none");
}

std::string partition_text(DistributionOptions::Partition partition, const std::filesystem::path& path) {
  using enum DistributionOptions::Partition;
  switch (partition) {
    case block:
      return "block";
    case random:
      return "random";
    case hypergraph:
      return "hypergraph";
    case file:
      return path.string();
    default:
      return "auto";
  }
}

std::string grid_text(const std::optional<GridShape>& grid, DistributionOptions::GridRule rule) {
  using Rule = DistributionOptions::GridRule;
  if (grid) return to_string(*grid);
  return rule == Rule::splatt ? "splatt" : rule == Rule::predicted ? "predicted" : "auto";
}

std::string labels_text(const LabelSources& labels) {
  const auto& [files, folder, none] = labels;
  if (none) return "none";
  std::string text = folder.string();
  for (const auto& [mode, path] : files)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", mode + 1, path.string());
  return or_else(text, "files beside the input");
}

std::string sync_text(int sync) {
  if (sync == CompleteOptions::sync_auto) return "auto";
  return sync == CompleteOptions::sync_max ? "max" : std::to_string(sync);
}

// Its seed is a setting of the task.
void add_distribution(Settings& all, const DistributionOptions& options) {
  const auto& [scheme, allows_coarse, partition, partition_file, cache, grid, grid_rule, num_free_primes,
               policy, row_rule, row_owners_file, seed, is_replicated, exchange] = options;
  add(all, "scheme", scheme ? to_string(*scheme) : "auto");
  if (!allows_coarse) add(all, "allows_coarse", text_of(allows_coarse));  // no option of the command line
  add(all, "partition", partition_text(partition, partition_file));
  add(all, "cache", cache_text(cache));
  add(all, "grid", grid_text(grid, grid_rule));
  add(all, "num_free_primes", std::to_string(num_free_primes));
  add(all, "policy", policy ? to_string(*policy) : "auto");
  add(all, "row_rule",
      row_rule == RowRule::file ? row_owners_file.string()
      : row_rule                ? to_string(*row_rule)
                                : "auto");
  add(all, "is_replicated", is_replicated ? modes_text(*is_replicated) : "auto");
  std::vector<std::string> exchanges;
  for (const auto& of_mode : exchange) exchanges.push_back(to_string(of_mode));
  add(all, "exchange", exchange.empty() ? "auto" : fmt::format("{}", fmt::join(exchanges, ",")));
}

Settings values_of(const LoadOptions& options) {
  const auto& [format, index_base, dims, columns, value, table, duplicates, transform, min_count, labels,
               dense_zeros] = options;
  const auto& [header, separator, decimal_comma, multiline, fields, missing] = table;
  Settings all;
  add(all, "LoadOptions::format", format ? std::string(io::traits(*format).name) : "auto");
  add(all, "index_base", index_base ? std::to_string(*index_base) : "auto");
  add(all, "dims", or_else(report::dims_text(dims), "auto"));
  add(all, "columns", or_else(columns, "auto"));
  add(all, "value", or_else(value, "auto"));
  add(all, "header", header ? text_of(*header) : "auto");
  add(all, "separator", or_else(separator, "auto"));
  add(all, "decimal_comma", text_of(decimal_comma));
  add(all, "multiline", text_of(multiline));
  add(all, "fields", fields > 0 ? std::to_string(fields) : "all");
  add(all, "missing", missing ? text_of(*missing) : "none");
  add(all, "duplicates", duplicates ? to_string(*duplicates) : "auto");
  add(all, "transform", to_string(transform));
  add(all, "min_count", min_count.empty() ? "none" : fmt::format("{}", fmt::join(min_count, ",")));
  add(all, "labels", labels_text(labels));
  if (dense_zeros) add(all, "dense_zeros", text_of(dense_zeros));  // no option of the command line
  return all;
}

std::string text_or_auto(const std::optional<double>& number) {
  return number ? text_of(*number) : "auto";
}

void add_checkpoint(Settings& all, const std::optional<CheckpointOptions>& options) {
  const auto& [directory, every_seconds, every_iterations, keep] = options.value_or(CheckpointOptions{});
  add(all, "checkpoint", or_else(directory.string(), "none"));
  add(all, "every",
      every_iterations > 0 ? std::to_string(every_iterations) + "it" : text_of(every_seconds) + "s");
  add(all, "keep", std::to_string(keep));
}

void add_time_limit(Settings& all, double max_seconds) {
  add(all, "max_seconds", max_seconds == 0 ? "no limit" : text_of(max_seconds) + " s");
}

Settings values_of(const DecomposeOptions& options) {
  const auto& [rank, method, missing, implicit, max_iterations, tolerance, seed, start, start_model,
               num_starts, nonnegative, nonnegative_modes, precision, format, device, mode_order,
               max_memory_bytes, distribution, checkpoint, max_seconds, observer] = options;
  Settings all;
  add(all, "rank", std::to_string(rank));
  add(all, "nonnegative", nonnegative ? "all" : or_else(modes_text(nonnegative_modes), "none"));
  add(all, "method", method == Method::opt ? "opt" : "als");
  add(all, "DecomposeOptions::missing", text_of(missing.has_value()));
  add(all, "implicit", text_of(implicit.has_value()));
  const auto& [regularisation, test_fraction, patience, weights, has_biases] =
      missing ? *missing : MissingOptions{};
  const auto& [alpha, ridge, shrinkage, test_share] = implicit.value_or(ImplicitOptions{});
  const double tested = implicit ? test_share : test_fraction;
  add(all, "regularisation", missing ? text_of(regularisation) : implicit ? text_or_auto(ridge) : "none");
  add(all, "alpha", implicit ? text_of(alpha) : "none");
  add(all, "shrinkage", implicit ? text_or_auto(shrinkage) : "none");
  add(all, "test", tested == 0 ? "none" : text_of(tested));
  add(all, "MissingOptions::weights", weights ? or_else(weights->path, "given") : "none");
  add(all, "has_biases", text_of(has_biases));
  if (missing) add(all, "patience", std::to_string(patience));  // no option of the command line
  add(all, "max_iterations", std::to_string(max_iterations));
  add(all, "tolerance", text_of(tolerance));
  add(all, "seed", std::to_string(seed));
  add(all, "start", start_model ? or_else(start_model->state().input, "model") : to_string(start));
  add(all, "num_starts", std::to_string(num_starts));
  add(all, "format", to_string(format));
  add(all, "precision", text_of(precision));
  add(all, "device", to_string(device));
  add(all, "mode_order", or_else(modes_text(mode_order), "auto"));
  add(all, "max_memory_bytes", memory_text(max_memory_bytes));
  add_checkpoint(all, checkpoint);
  add_time_limit(all, max_seconds);
  add_distribution(all, distribution);
  return all;
}

Settings values_of(const CompleteOptions& options) {
  const auto& [factors, method, implicit, lists, alpha, solver, cg_steps, popularity, neighbours, max_epochs,
               schedule, learning_rate, decay, regularisation, shrinkage, explicit_update, no_bias, test,
               validate, patience, ranking, relevant, seed, precision, device, sync, virtual_processes,
               random_owners, by, partition, partition_file, cache, resume, max_memory_bytes, will_save,
               will_report, checkpoint, max_seconds, observer] = options;
  const bool decays = schedule == StepSchedule::Kind::inverse;
  Settings all;
  add(all, "factors", std::to_string(factors));
  add(all, "method", implicit ? "als" : to_string(method));
  add(all, "implicit", text_of(implicit));
  const bool has_lists = implicit || trains_lists(options);
  add(all, "lists", to_string(lists));
  add(all, "alpha", has_lists ? text_of(alpha) : "none");
  add(all, "popularity", has_lists ? text_or_auto(popularity) : "none");
  add(all, "neighbours", has_lists ? text_or_auto(neighbours) : "none");
  const bool is_solved = uses_least_squares(options);
  const int steps = is_solved ? cg_steps_of(options) : 0;
  add(all, "solver", !is_solved ? "none" : steps == 0 ? "cholesky" : "cg");
  add(all, "cg_steps", steps == 0 ? "none" : std::to_string(steps));
  add(all, "max_epochs", std::to_string(max_epochs));
  add(all, "schedule", to_string(schedule));
  add(all, "learning_rate", text_of(learning_rate.value_or(default_step(schedule))));
  add(all, "decay", decays ? text_of(decay.value_or(StepSchedule{}.decay)) : "none");
  add(all, "regularisation", text_of(shrinkage_of(options).per_rating));
  add(all, "shrinkage", text_of(shrinkage_of(options).per_row));
  add(all, "explicit_update", text_of(explicit_update));
  add(all, "no_bias", text_of(no_bias));
  add(all, "test", name_of(test));
  add(all, "validate", name_of(validate));
  add(all, "patience", std::to_string(patience));
  add(all, "ranking", std::to_string(ranking));
  add(all, "relevant", relevant ? text_of(*relevant) : "mean");
  add(all, "seed", std::to_string(seed));
  add(all, "precision", text_of(precision));
  add(all, "device", to_string(device));
  add(all, "sync", sync_text(sync));
  add(all, "virtual_processes", virtual_processes == 0 ? "none" : std::to_string(virtual_processes));
  add(all, "random_owners", text_of(random_owners));
  add(all, "by", text_of(by));
  add(all, "partition", partition == RatingPartition::file ? partition_file.string() : to_string(partition));
  add(all, "cache", cache_text(cache));
  add(all, "resume", or_else(resume.string(), "none"));
  add(all, "max_memory_bytes", memory_text(max_memory_bytes));
  add_checkpoint(all, checkpoint);
  add_time_limit(all, max_seconds);
  return all;
}

Settings values_of(const PlanOptions& options) {
  const auto& [rank, processes, threads_per_process, processes_per_machine, distribution, with_hypergraph,
               time_limit_seconds, max_memory_bytes, input_arguments] = options;
  Settings all;
  add(all, "rank", std::to_string(rank));
  add(all, "processes", fmt::format("{}", fmt::join(processes, ",")));
  add(all, "threads_per_process", std::to_string(threads_per_process));
  add(all, "processes_per_machine",
      processes_per_machine == 0 ? "all" : std::to_string(processes_per_machine));
  add(all, "seed", std::to_string(distribution.seed));
  add(all, "with_hypergraph", text_of(with_hypergraph));
  add(all, "time_limit_seconds", text_of(time_limit_seconds) + " s");
  add(all, "max_memory_bytes", memory_text(max_memory_bytes));
  add_distribution(all, distribution);
  return all;
}

Settings values_of(const CompletePlanOptions& options) {
  const auto& [factors, no_bias, schedule, test, processes, sync, by, partition, partition_file,
               with_hypergraph, time_limit_seconds, cache, seed, input_arguments] = options;
  Settings all;
  add(all, "factors", std::to_string(factors));
  add(all, "no_bias", text_of(no_bias));
  add(all, "schedule", to_string(schedule));
  add(all, "test", name_of(test));
  add(all, "processes", fmt::format("{}", fmt::join(processes, ",")));
  add(all, "sync", or_else(fmt::format("{}", fmt::join(sync, ",")), "several"));
  add(all, "by", text_of(by));
  add(all, "seed", std::to_string(seed));
  add(all, "with_hypergraph", text_of(with_hypergraph));
  add(all, "time_limit_seconds", text_of(time_limit_seconds) + " s");
  add(all, "partition",
      !partition                            ? "block and random"
      : *partition == RatingPartition::file ? partition_file.string()
                                            : to_string(*partition));
  add(all, "cache", cache_text(cache));
  return all;
}

// Marks those that are as without options. Lists of the same options have the same order.
template <class Options>
Settings with_defaults_marked(const Options& options) {
  auto all = values_of(options);
  for (const auto& usual : values_of(Options{}))
    for (auto& setting : all)
      if (setting.name == usual.name) setting.is_default = setting.value == usual.value;
  return all;
}

std::time_t date_of(const Context& context) {
  const char* text = std::getenv("SOURCE_DATE_EPOCH");
  if (text == nullptr || *text == '\0') return std::time(nullptr);
  const std::string_view digits(text);
  constexpr std::time_t last = 253402300799;  // of the year 9999
  std::time_t seconds = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
  if (error == std::errc() && end == digits.data() + digits.size() && seconds >= 0 && seconds <= last)
    return seconds;
  context.warn(
      fmt::format("SOURCE_DATE_EPOCH={} is not a number of seconds since 1970; the report shows the "
                  "current date",
                  text));
  return std::time(nullptr);
}

std::string command_of(const Context& context) {
  std::string command;
  for (const auto& word : context.command())
    command += (command.empty() ? "" : " ") + report::for_shell(word);
  if (command.empty() || context.comm().size() == 1) return command;
  return fmt::format("mpirun -n {} {}", context.comm().size(), command);
}

}  // namespace

Settings settings_of(const LoadOptions& options) {
  return with_defaults_marked(options);
}

Settings settings_of(const DecomposeOptions& options) {
  return with_defaults_marked(options);
}

Settings settings_of(const CompleteOptions& options) {
  return with_defaults_marked(options);
}

Settings settings_of(const PlanOptions& options) {
  return with_defaults_marked(options);
}

Settings settings_of(const CompletePlanOptions& options) {
  return with_defaults_marked(options);
}

report::RunRecord run_record(const Context& context, Settings settings) {
  report::RunRecord record;
  record.version = "polyad " POLYAD_VERSION;
  record.date = fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(date_of(context)));
  record.command = command_of(context);
  record.settings = std::move(settings);
  record.settings.push_back({option_name("threads"), std::to_string(num_threads())});
  for (auto& setting : record.settings) setting.name = context.shown(setting.name);
  return record;
}

}  // namespace polyad::tasks
