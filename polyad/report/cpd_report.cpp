#include "polyad/report/cpd_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "polyad/base/parallel.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad {
namespace {

double mean(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}
double least(const std::vector<double>& values) {
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
          {"distribute", 0.0},
          {"compress", run.preparing.seconds("compress")},
          {"choose", run.preparing.seconds("choose")},
          {"start", run.iterating.seconds("start")},
          {"iterate", run.iterating.seconds("iterate")},
          {"per_iteration", mean(run.iteration_seconds)},
          {"fastest_iteration", least(run.iteration_seconds)},
          {"mttkrp", run.iterating.seconds("mttkrp")},
          {"solve", run.iterating.seconds("solve")},
          {"gram", 0.0},  // a part of the pass that solves
          {"norm", 0.0},  // likewise
          {"communicate", run.iterating.seconds("communicate")},
          {"output", run.output_seconds}};
}

std::string other_formats(const CpdRun& run, std::span<const FormatOption> options) {
  std::string others;
  for (const auto& option : options)
    if (option.name != run.chosen.name)
      others +=
          fmt::format("{}{} {:.3g} ms", others.empty() ? "others " : ", ", option.name, 1e3 * option.seconds);
  return others;
}

}  // namespace

template <class Real>
CpdRun describe_run(const PreparedTensor<Real>& x, const DecomposeOptions& options,
                    const CpAlsResult<Real>& result) {
  CpdRun run;
  run.dims = x.tensor.extents();
  run.num_nonzeros = x.num_nonzeros;
  run.num_duplicates = x.num_duplicates;
  run.options = options;
  run.precision = sizeof(Real) == 4 ? "single" : "double";
  run.processes = x.tensor.comm().size();
  run.threads = num_threads();
  run.chosen = x.chosen;
  run.weights = result.model.weights;
  run.fit_trajectory = result.fit_trajectory;
  run.iteration_seconds = result.iteration_seconds;
  run.stop = result.stop;
  run.norm = x.tensor.norm();
  run.preparing = x.timings;
  run.iterating = result.timings;
  return run;
}

std::string stop_text(StopReason stop) {
  switch (stop) {
    case StopReason::converged:
      return "converged";
    case StopReason::observer:
      return "stopped";
    default:
      return "iteration limit";
  }
}

nlohmann::ordered_json cpd_json(const CpdRun& run) {
  nlohmann::ordered_json json;
  json["fit"] = run.fit();
  json["fit_trajectory"] = run.fit_trajectory;
  json["iterations"] = run.fit_trajectory.size();
  json["stop"] = stop_text(run.stop);
  json["rank"] = run.options.als.num_components;
  json["seed"] = run.options.als.seed;
  json["tolerance"] = run.options.als.tolerance;
  json["nonneg"] = nonnegative_modes(run);
  json["weights"] = run.weights;
  json["norm"] = run.norm;
  json["residual_norm"] = run.residual_norm();
  json["dims"] = run.dims;
  json["nnz"] = run.num_nonzeros;
  json["duplicates"] = run.num_duplicates;
  json["processes"] = run.processes;
  json["threads"] = run.threads;
  json["distribution"] = "none";
  json["partition"] = "none";
  json["grid"] = std::vector<int>(run.dims.size(), 1);
  json["policy"] = "none";
  json["format"] = run.chosen.name;
  json["plan"] = describe(run.chosen.plan);
  json["mode_order"] = from_one(run.chosen.plan.mode_order);
  json["precision"] = run.precision;
  json["seconds"] = seconds_json(run);
  json["communication"] = {{"volume_words_per_iteration", 0},
                           {"predicted_volume_words_per_iteration", 0},
                           {"messages_per_iteration", 0},
                           {"max_volume_words", 0},
                           {"max_messages", 0}};
  json["imbalance"] = {{"nnz", 0.0}, {"volume", 0.0}, {"rows", 0.0}};
  json["predicted"] = {{"seconds_per_iteration", run.chosen.seconds},
                       {"format_bytes", run.chosen.format_bytes},
                       {"peak_memory_bytes", run.chosen.peak_bytes()}};
  json["peak_memory_bytes"] = run.peak_memory_bytes;
  return json;
}

std::vector<std::pair<std::string, double>> phase_seconds(const CpdRun& run) {
  return {{"reading the file", run.load_seconds},
          {"sorting and compressing", run.preparing.seconds("compress")},
          {"counting fibers for the plan", run.preparing.seconds("choose")},
          {"drawing the start", run.iterating.seconds("start")},
          {"iterations", run.iterating.seconds("iterate")},
          {"writing the model", run.output_seconds}};
}

std::string cpd_text(const CpdRun& run, std::span<const FormatOption> options) {
  std::string text =
      fmt::format("{} tensor, {} nonzeros, {} components, {} precision, {} threads\n", dims_text(run.dims),
                  with_commas(run.num_nonzeros), run.options.als.num_components, run.precision, run.threads);
  text += fmt::format("format {}: {:.3g} ms per iteration and {} of memory predicted", run.chosen.name,
                      1e3 * run.chosen.seconds, with_prefix(double(run.chosen.peak_bytes()), "B"));
  if (run.options.format == "auto")
    text += ", the least time to build and iterate; " + other_formats(run, options);
  text += fmt::format("\neach iteration: {}\n", describe(run.chosen.plan));
  text += fmt::format("fit {:.6f} after {} iterations ({}), {:.4g} ms per iteration\n", run.fit(),
                      run.fit_trajectory.size(), stop_text(run.stop), 1e3 * mean(run.iteration_seconds));
  text += fmt::format("seconds: load {:.2f}, compress {:.2f}, iterate {:.2f}; peak memory {}",
                      run.load_seconds, run.preparing.seconds("compress") + run.preparing.seconds("choose"),
                      run.iterating.seconds("iterate"), with_prefix(double(run.peak_memory_bytes), "B"));
  return text;
}

template CpdRun describe_run(const PreparedTensor<float>&, const DecomposeOptions&,
                             const CpAlsResult<float>&);
template CpdRun describe_run(const PreparedTensor<double>&, const DecomposeOptions&,
                             const CpAlsResult<double>&);

}  // namespace polyad
