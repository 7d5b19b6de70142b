#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyad/algo/run_cp.hpp"
#include "polyad/plan/choose_distribution.hpp"
#include "polyad/tensor/labels.hpp"

namespace polyad::report {

// What a run of `polyad cpd` was and what it took, apart from the model itself.
struct CpdRun {
  std::vector<Index> dims;
  Index num_nonzeros = 0, num_duplicates = 0;
  CpRunOptions options;
  std::string precision;
  int processes = 1, threads = 1;
  FormatOption chosen;
  std::vector<double> weights, fit_trajectory;
  int model_iteration = 0;  // of CpResult, as is the next
  double max_condition = 1;
  int evaluations = 0;  // with Method::opt; what is told per iteration is then per evaluation, but for times
  StopReason stop = StopReason::iteration_limit;
  double norm = 0;  // of the tensor
  double load_seconds = 0, output_seconds = 0;
  Timings preparing, iterating;
  std::vector<double> iteration_seconds;
  Index peak_memory_bytes = 0;
  // On several processes.
  std::string distribution = "none", partition = "none", policy = "none";
  std::vector<int> grid, replicated_modes;                 // modes from 1
  std::vector<std::pair<std::string, double>> candidates;  // distributions that were weighed: seconds
  Index num_too_large = 0;                                 // of them, by --memory
  Communication communication;
  Imbalance imbalance;
  PredictedTime predicted;           // by the loads of the processes as they are,
  std::string machine = "built in";  // and constants from here

  double fit() const { return model_iteration == 0 ? 0 : fit_trajectory[model_iteration - 1]; }
  double residual_norm() const { return (1 - fit()) * norm; }
};

// Fills in what the library's own results know; times are those of the slowest process. Collective.
template <class Real>
CpdRun describe_run(const PreparedTensor<Real>& x, const CpRunOptions& options, const CpResult<Real>& result);
// Fills in how the tensor was distributed over several processes.
void describe_distribution(CpdRun& run, const ChosenDistribution& chosen, const PartLoads& loads,
                           const MachineModel& machine);

// The keys `formats` and `suggested` of `polyad stats --formats --json`.
nlohmann::ordered_json format_choice_json(const FormatChoice& choice);
// The same for people: a table of the formats, and which one cpd takes and why.
std::string format_choice_text(const FormatChoice& choice, Index num_components);

// A warning if the fit fell and an earlier model was kept; else empty.
std::string fall_text(const CpdRun& run);

// "converged", "iteration limit" or "stopped".
std::string stop_text(StopReason stop);

// "alternating least squares", say.
std::string method_text(Method method);
// "iteration", or "evaluation": what the costs of a run are told of.
std::string round_text(Method method);

// The keys of `polyad cpd --json`; docs/json.md names them all.
nlohmann::ordered_json cpd_json(const CpdRun& run);

// The phases that a person asks about, in their order.
std::vector<std::pair<std::string, double>> phase_seconds(const CpdRun& run);

// What was done, in a few lines: format and why, iterations, fit, times, memory.
std::string cpd_text(const CpdRun& run, std::span<const FormatOption> options);

}  // namespace polyad::report
