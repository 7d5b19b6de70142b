#include "polyad/report/cpd_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "polyad/base/parallel.hpp"
#include "polyad/report/plan_report.hpp"
#include "polyad/report/ranking_report.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::report {
namespace {

bool is_opt(const CpdRun& run) {
  return run.options.method == Method::opt;
}

double mean(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}
double minimum(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::ranges::min_element(values);
}

std::vector<int> from_one(const std::vector<int>& modes) {
  std::vector<int> result;
  for (const int mode : modes) result.push_back(mode + 1);
  return result;
}

std::vector<int> nonnegative_modes(const CpdRun& run) {
  std::vector<int> modes;
  for (int m = 0; m < int(run.options.als.nonnegative.size()); ++m)
    if (run.options.als.nonnegative[m]) modes.push_back(m + 1);
  return modes;
}

nlohmann::ordered_json seconds_json(const CpdRun& run) {
  return {{"load", run.load_seconds},
          {"choose_distribution", run.preparing.seconds("choose_distribution")},
          {"distribute", run.preparing.seconds("distribute")},
          {"compress", run.preparing.seconds("compress")},
          {"choose", run.preparing.seconds("choose")},
          {"start", run.iterating.seconds("start")},
          {"iterate", run.iterating.seconds("iterate")},
          {"per_iteration", mean(run.iteration_seconds)},
          {"fastest_iteration", minimum(run.iteration_seconds)},
          {"mttkrp", run.iterating.seconds("mttkrp")},
          {"solve", run.iterating.seconds("solve")},
          {"gram", 0.0},  // a part of the pass that solves
          {"norm", 0.0},  // likewise
          {"communicate", run.iterating.seconds("communicate")},
          {"copy", run.iterating.seconds("copy")},
          {"upload", run.iterating.seconds("upload")},
          {"download", run.iterating.seconds("download")},
          {"output", run.output_seconds}};
}

// Of every phase, the time of the process that took longest. Collective.
Timings slowest(const Comm& comm, const Timings& mine) {
  Timings result;
  for (const auto& [phase, seconds] : mine.phases()) result.add(phase, comm.all_reduce(seconds, Reduce::max));
  return result;
}

nlohmann::ordered_json stages_json(const CpdRun& run) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& stage : run.communication.stages)
    json.push_back({{"mode", stage.mode + 1},
                    {"stage", stage.stage + 1},
                    {"words", stage.words},
                    {"messages", stage.messages},
                    {"max_messages", stage.max_messages}});
  return json;
}

nlohmann::ordered_json communication_json(const CpdRun& run) {
  const auto& sent = run.communication;
  return {{"volume_words_per_iteration", sent.volume_words},
          {"predicted_volume_words_per_iteration", sent.predicted_volume_words},
          {"messages_per_iteration", sent.messages},
          {"max_volume_words", sent.max_volume_words},
          {"max_messages", sent.max_messages},
          {"all_reduced_words_per_iteration", sent.all_reduced_words},
          {"stages", stages_json(run)}};
}

// Nothing for a method whose time is not predicted.
nlohmann::ordered_json predicted_seconds(const CpdRun& run) {
  if (run.options.observed) return nullptr;
  return run.processes > 1 ? run.predicted.seconds() : run.chosen.seconds;
}

nlohmann::ordered_json candidates_json(const CpdRun& run) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& [name, seconds, memory] : run.candidates)
    json.push_back({{"name", name}, {"seconds_per_iteration", seconds}, {"fits", memory.fits}});
  return json;
}

// Of what was measured of a copy; nothing where a number is missing.
nlohmann::ordered_json copy_fraction(const CpdRun& run) {
  const double seconds = mean(run.iteration_seconds);
  if (run.device_bytes == 0 || !run.gpu_bytes_per_second || seconds == 0) return nullptr;
  return double(run.device_bytes) / seconds / *run.gpu_bytes_per_second;
}

nlohmann::ordered_json predicted_json(const CpdRun& run) {
  nlohmann::ordered_json json{{"seconds_per_iteration", predicted_seconds(run)},
                              {"format_bytes", run.chosen.format_bytes},
                              {"peak_memory_bytes", run.chosen.peak_bytes()}};
  if (run.processes > 1 && !run.options.observed) {
    json["multiply"] = run.predicted.multiply;
    json["update"] = run.predicted.update;
    json["communicate"] = run.predicted.communicate;
    json["candidates"] = candidates_json(run);
    json["machine"] = run.machine;
  }
  return json;
}

// How the distribution was chosen; empty if nothing was compared.
std::string choice_text(const CpdRun& run) {
  if (run.candidates.empty()) return "";
  const auto count = std::ssize(run.candidates);
  const Index num_too_large =
      std::ranges::count_if(run.candidates, [](const auto& one) { return !one.memory.fits; });
  const auto limit = with_prefix(double(run.options.max_bytes), "B");
  auto text =
      num_too_large == count
          ? fmt::format("; smallest memory of {}, none of which is predicted to fit into {} per process",
                        counted(count, "candidate"), limit)
          : fmt::format("; fastest of {}", counted(count, "candidate"));
  if (num_too_large > 0 && num_too_large < count)
    text += fmt::format(" ({} {} not fit into {} per process)", num_too_large,
                        num_too_large == 1 ? "does" : "do", limit);
  if (std::ranges::any_of(run.candidates, [](const auto& one) { return one.name.ends_with("hypergraph"); }))
    text += ", including a cached hypergraph partition";
  return text;
}

// The distribution and its communication, in a few lines.
std::string distribution_text(const CpdRun& run) {
  const auto round = round_text(run.options.method);
  std::string text = fmt::format("{} processes, {}", run.processes, run.distribution);
  text += run.policy == "none" ? " " + run.partition
                               : fmt::format(" {}, policy {}, {} owners", to_string(GridShape(run.grid)),
                                             run.policy, run.row_owners);
  if (!run.options.observed)
    text += fmt::format("{}: predicted {:.3g} ms per {}, of which {:.3g} ms communication", choice_text(run),
                        1e3 * run.predicted.seconds(), round, 1e3 * run.predicted.communicate);
  const Index num_idle = run.processes - GridShape(run.grid).size();
  if (run.policy != "none" && num_idle > 0)
    text += fmt::format("; the grid leaves {} without nonzeros", processes_text(int(num_idle)));
  text += "\n";
  text += fmt::format("imbalance: nonzeros {:.2f}, volume {:.2f}, rows {:.2f}\n", run.imbalance.nnz,
                      run.imbalance.volume, run.imbalance.rows);
  text +=
      fmt::format("sent per {}: {} in {}, as planned", round, counted(run.communication.volume_words, "word"),
                  counted(run.communication.messages, "message"));
  if (!run.replicated_modes.empty())
    text += fmt::format("; all-reduced {} of mode {}", counted(run.communication.all_reduced_words, "word"),
                        fmt::join(run.replicated_modes, ", "));
  for (std::size_t m = 0; m < run.exchange.size(); ++m)
    if (run.exchange[m].starts_with("routed"))
      text += fmt::format("; rows of mode {} go in {} stages", m + 1,
                          run.exchange[m].substr(run.exchange[m].find(':') + 1));
  text += "\n";
  return text;
}

bool is_implicit(const CpdRun& run) {
  return run.options.observed && run.options.observed->alpha;
}

// Before the fit.
const char* what_was_fitted(const CpdRun& run) {
  if (is_implicit(run)) return "implicit feedback: all cells by their weights: ";
  return run.options.observed ? "cells that are not given are unknown; of the others: " : "";
}

std::string other_formats(const CpdRun& run, std::span<const FormatOption> options) {
  std::string others;
  for (const auto& option : options)
    if (option.name != run.chosen.name)
      others +=
          fmt::format("{}{} {:.3g} ms", others.empty() ? "others " : ", ", option.name, 1e3 * option.seconds);
  return others;
}

// Without the sign of what rounds to zero.
double shown_fit(double fit) {
  return std::abs(fit) < 5e-7 ? 0 : fit;
}

}  // namespace

template <class Real>
CpdRun describe_run(const PreparedTensor<Real>& x, const CpRunOptions& options,
                    const CpResult<Real>& result) {
  CpdRun run;
  run.dims = x.tensor.extents();
  run.num_nonzeros = x.tensor.num_nonzeros();
  run.num_duplicates = x.num_duplicates;
  run.options = options;
  run.precision = sizeof(Real) == 4 ? "single" : "double";
  run.processes = x.tensor.comm().size();
  run.threads = num_threads();
  run.chosen = x.chosen;
  run.weights = result.model.weights;
  run.mean = result.mean;
  run.fit_trajectory = result.fit_trajectory;
  run.held_out_rmse = result.held_out_rmse;
  run.held_out_rmse_of_mean = result.held_out_rmse_of_mean;
  run.model_iteration = result.model_iteration;
  run.max_condition = result.max_condition;
  run.device_bytes = result.device_bytes;
  run.evaluations = result.evaluations;
  run.iteration_seconds = result.iteration_seconds;
  run.stop = result.stop;
  run.norm = result.weighted_norm.value_or(x.tensor.norm());
  run.preparing = slowest(x.tensor.comm(), x.timings);
  run.iterating = slowest(x.tensor.comm(), result.timings);
  run.grid.assign(run.dims.size(), 1);
  run.communication = result.communication;
  return run;
}

void describe_distribution(CpdRun& run, const ChosenDistribution& chosen, const PartLoads& loads,
                           const FusedPasses& fused, const MachineModel& machine) {
  const auto& distribution = chosen.distribution;
  run.distribution = to_string(distribution.scheme);
  run.partition = distribution.partition;
  if (distribution.policy) run.policy = to_string(*distribution.policy);
  if (distribution.scheme != Scheme::coarse) run.row_owners = to_string(distribution.row_rule);
  if (distribution.grid) run.grid = distribution.grid->dims();
  run.candidates = chosen.candidates;
  for (int m = 0; m < int(run.dims.size()); ++m)
    if (distribution.replicates(m)) run.replicated_modes.push_back(m + 1);
  run.exchange = exchange_names(distribution.is_replicated, distribution.num_stages, int(run.dims.size()));
  run.imbalance = imbalance_of(loads);
  auto here = machine;
  if (run.options.als.gpu) here.per_packed_word += sizeof(double) * run.options.gpu_model.per_uploaded_byte;
  run.predicted = predict_time(loads, run.options.als.num_components, here, fused);
  // The passes of a GPU and its updates are one prediction.
  if (run.options.als.gpu)
    run.predicted = {.multiply = run.chosen.seconds, .communicate = run.predicted.communicate};
}

std::string fall_text(const CpdRun& run) {
  if (run.model_iteration == std::ssize(run.fit_trajectory)) return "";
  return fmt::format(
      "the fit fell from {:.6f} at iteration {} to {:.6f} at the end; the model of iteration {} is kept",
      run.fit(), run.model_iteration, run.fit_trajectory.back(), run.model_iteration);
}

std::string stop_text(StopReason stop) {
  switch (stop) {
    case StopReason::converged:
      return "converged";
    case StopReason::test_error:
      return "test error";
    case StopReason::observer:
      return "stopped";
    case StopReason::interrupted:
      return "interrupted";
    case StopReason::time_limit:
      return "time limit";
    default:
      return "iteration limit";
  }
}

std::string method_text(Method method) {
  return method == Method::opt ? "all factors at once, by limited-memory BFGS" : "alternating least squares";
}

std::string round_text(Method method) {
  return method == Method::opt ? "evaluation" : "iteration";
}

nlohmann::ordered_json cpd_json(const CpdRun& run) {
  nlohmann::ordered_json json;
  json["fit"] = run.fit();
  json["fit_trajectory"] = run.fit_trajectory;
  json["iterations"] = run.fit_trajectory.size();
  json["model_iteration"] = run.model_iteration;
  json["method"] = is_opt(run) ? "opt" : "als";
  if (is_opt(run)) json["evaluations"] = run.evaluations;
  if (run.options.observed) {
    json[is_implicit(run) ? "implicit" : "missing"] = true;
    if (is_implicit(run)) {
      json["alpha"] = *run.options.observed->alpha;
      json["shrinkage"] = run.options.observed->per_row;
    }
    if (run.mean) json["mean"] = *run.mean;
    json["regularisation"] = run.options.observed->regularisation;
    json["held_out"] = run.options.observed->held_out;
  }
  if (run.ranking) json["ranking"] = ranking_json(*run.ranking);
  if (!run.held_out_rmse.empty()) {
    json["test_rmse"] = run.test_rmse();
    json["test_rmse_per_iteration"] = run.held_out_rmse;
    json["test_rmse_of_mean"] = run.held_out_rmse_of_mean;
  }
  if (!is_opt(run) && !run.options.observed)
    json["condition"] =
        std::isfinite(run.max_condition) ? nlohmann::ordered_json(run.max_condition) : nullptr;
  json["stop"] = stop_text(run.stop);
  if (run.checkpoint) json["checkpoint"] = checkpoint_json(*run.checkpoint);
  json["rank"] = run.options.als.num_components;
  json["seed"] = run.options.als.seed;
  if (run.starts.size() > 1)
    for (const auto& [seed, fit, iterations] : run.starts)
      json["starts"].push_back({{"seed", seed}, {"fit", fit}, {"iterations", iterations}});
  json["tolerance"] = run.options.als.tolerance;
  json["nonneg"] = nonnegative_modes(run);
  json["weights"] = run.weights;
  json["norm"] = run.norm;
  json["residual_norm"] = run.residual_norm();
  json["dims"] = run.dims;
  json["nnz"] = run.num_nonzeros;
  json["duplicates"] = run.num_duplicates;
  json["duplicate_rule"] = to_string(run.prepared.duplicates);
  json["transform"] = to_string(run.prepared.transform);
  json["min_count"] = run.prepared.min_count;
  json["processes"] = run.processes;
  json["threads"] = run.threads;
  json["distribution"] = run.distribution;
  json["partition"] = run.partition;
  json["grid"] = run.grid;
  json["policy"] = run.policy;
  json["row_owners"] = run.row_owners;
  json["replicated"] = run.replicated_modes;
  json["exchange"] = run.exchange;
  json["format"] = run.chosen.name;
  json["plan"] = describe(run.chosen.plan);
  json["mode_order"] = from_one(run.chosen.plan.mode_order);
  json["precision"] = run.precision;
  json["device"] = run.device;
  json["device_bytes_per_iteration"] =
      run.device_bytes > 0 ? nlohmann::ordered_json(run.device_bytes) : nlohmann::ordered_json();
  json["device_copy_fraction"] = copy_fraction(run);
  json["seconds"] = seconds_json(run);
  json["communication"] = communication_json(run);
  json["imbalance"] = {
      {"nnz", run.imbalance.nnz}, {"volume", run.imbalance.volume}, {"rows", run.imbalance.rows}};
  json["predicted"] = predicted_json(run);
  json["peak_memory_bytes"] = run.peak_memory_bytes;
  return json;
}

nlohmann::ordered_json format_choice_json(const FormatChoice& choice) {
  auto formats = nlohmann::ordered_json::array();
  for (const auto& option : choice.options)
    formats.push_back({{"format", option.name},
                       {"seconds_per_iteration", option.seconds},
                       {"build_seconds", option.build_seconds},
                       {"format_bytes", option.format_bytes},
                       {"peak_memory_bytes", option.peak_bytes()}});
  return {{"formats", std::move(formats)}, {"suggested", choice.chosen.name}};
}

std::string format_choice_text(const FormatChoice& choice, Index num_components) {
  const auto& smallest = *std::ranges::min_element(choice.options, {}, &FormatOption::peak_bytes);
  std::string text = fmt::format(
      "{}\nsuggested for cpd -r {}: {}, the smallest time to build ({:.3g} s) and for {} iterations",
      format_table(choice.options), num_components, choice.chosen.name, choice.chosen.build_seconds,
      usual_iterations);
  if (smallest.peak_bytes() < choice.chosen.peak_bytes())
    text += fmt::format("; {} needs the least memory", smallest.name);
  else
    text += ", and none needs less memory";
  return text;
}

std::vector<std::pair<std::string, double>> phase_seconds(const CpdRun& run) {
  std::vector<std::pair<std::string, double>> phases{{"reading the file", run.load_seconds}};
  if (run.processes > 1)
    phases.emplace_back("choosing a distribution", run.preparing.seconds("choose_distribution"));
  if (run.processes > 1) phases.emplace_back("moving nonzeros", run.preparing.seconds("distribute"));
  phases.emplace_back("sorting and compressing", run.preparing.seconds("compress"));
  phases.emplace_back("counting fibers for the plan", run.preparing.seconds("choose"));
  phases.emplace_back("initial factors", run.iterating.seconds("start"));
  phases.emplace_back("iterations", run.iterating.seconds("iterate"));
  phases.emplace_back("writing the model", run.output_seconds);
  return phases;
}

std::string cpd_text(const CpdRun& run) {
  std::string text =
      fmt::format("{} tensor, {}, {}, {} precision, {}\n", dims_text(run.dims),
                  counted(run.num_nonzeros, "nonzero"), counted(run.options.als.num_components, "component"),
                  run.precision, run.options.als.gpu ? run.device : counted(run.threads, "thread"));
  if (run.mean) text += fmt::format("biases of the rows of all modes, about a mean of {:.6g}\n", *run.mean);
  if (run.processes > 1) text += distribution_text(run);
  text += fmt::format("{}fit {:.6f} after {}{} ({}), {:.4g} ms per iteration\n", what_was_fitted(run),
                      shown_fit(run.fit()), counted(std::ssize(run.fit_trajectory), "iteration"),
                      is_opt(run) ? " and " + counted(run.evaluations, "evaluation") : "",
                      stop_text(run.stop), 1e3 * mean(run.iteration_seconds));
  if (!run.held_out_rmse.empty())
    text += fmt::format(
        "RMSE of the {:.3g} % of cells that were held out: {:.5g} (iteration {}); of the mean of the others: "
        "{:.5g}\n",
        100 * run.options.observed->held_out, run.test_rmse(), run.model_iteration,
        run.held_out_rmse_of_mean);
  if (run.ranking)
    text += fmt::format(
        "{:.3g} % of the cells were held out, at different combinations of places (here users) of "
        "all modes but the second (items)\n{}\n",
        100 * run.options.observed->held_out, ranking_text(*run.ranking));
  if (run.starts.size() > 1) {
    const auto [lowest, highest] = std::ranges::minmax(run.starts, {}, &StartOutcome::fit);
    text += fmt::format("best of {} starts, with seed {}; fits from {:.6f} to {:.6f}\n", run.starts.size(),
                        run.options.als.seed, shown_fit(lowest.fit), shown_fit(highest.fit));
  }
  text += fmt::format("seconds: load {:.2f}, compress {:.2f}, iterate {:.2f}; peak memory {}",
                      run.load_seconds, run.preparing.seconds("compress") + run.preparing.seconds("choose"),
                      run.iterating.seconds("iterate"), with_prefix(double(run.peak_memory_bytes), "B"));
  return text;
}

std::string cpd_details(const CpdRun& run, std::span<const FormatOption> options) {
  if (run.options.observed)
    return fmt::format("format {}\neach iteration: a least-squares system for every row of mode {}",
                       run.chosen.name, fmt::join(from_one(run.chosen.plan.mode_order), ", then of mode "));
  auto text = fmt::format("format {}: {:.3g} ms per {} and {} of memory predicted", run.chosen.name,
                          1e3 * run.chosen.seconds, round_text(run.options.method),
                          with_prefix(double(run.chosen.peak_bytes()), "B"));
  if (run.options.format == "auto")
    text += ", the smallest time to build and iterate; " + other_formats(run, options);
  return text + fmt::format("\neach {}: {}", round_text(run.options.method), describe(run.chosen.plan));
}

template CpdRun describe_run(const PreparedTensor<float>&, const CpRunOptions&, const CpResult<float>&);
template CpdRun describe_run(const PreparedTensor<double>&, const CpRunOptions&, const CpResult<double>&);

}  // namespace polyad::report
