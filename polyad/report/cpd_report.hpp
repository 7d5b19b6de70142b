#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyad/algo/cp/run_cp.hpp"
#include "polyad/plan/choose_distribution.hpp"
#include "polyad/report/checkpoint_use.hpp"
#include "polyad/tensor/labels.hpp"
#include "polyad/tensor/ratings/ranking_metrics.hpp"
#include "polyad/tensor/value_rules.hpp"

namespace polyad::report {

// Options, results and costs of a run of `polyad cpd`, without the model itself.
struct CpdRun {
  std::vector<Index> dims;
  Index num_nonzeros = 0, num_duplicates = 0;
  bool sums_duplicates = false;  // whether it was asked for that they are added up
  ValuePreparation prepared;     // of the tensor
  CpRunOptions options;
  std::string precision;
  std::string device = "cpu";                  // or the number and the name of a GPU
  Index device_bytes = 0;                      // as in CpResult
  std::optional<double> gpu_bytes_per_second;  // of a copy on the GPU, where it was measured
  int processes = 1, threads = 1;
  FormatOption chosen;
  std::vector<double> weights, fit_trajectory;
  std::optional<double> mean = {};    // of a model with biases
  std::vector<double> held_out_rmse;  // as in CpResult
  double held_out_rmse_of_mean = 0;   // as in CpResult, like the next two
  int model_iteration = 0;
  double max_condition = 1;
  std::optional<RankingMetrics> ranking;  // of implicit feedback with cells held out
  int evaluations = 0;                    // with Method::opt; costs per iteration are then per evaluation
  StopReason stop = StopReason::iteration_limit;
  std::vector<StartOutcome> starts;  // of which the best is described
  double norm = 0;                   // of the tensor; of implicit feedback: see CpResult::weighted_norm
  double load_seconds = 0, output_seconds = 0;
  Timings preparing, iterating;
  std::vector<double> iteration_seconds;
  Index peak_memory_bytes = 0;
  // On several processes.
  std::string distribution = "none", partition = "none", policy = "none", row_owners = "none";
  std::vector<int> grid, replicated_modes;                // modes from 1
  std::vector<std::string> exchange;                      // [mode]: see exchange_names
  std::vector<ChosenDistribution::Candidate> candidates;  // compared distributions
  Communication communication;
  Imbalance imbalance;
  PredictedTime predicted;           // from the actual loads of the processes
  std::string machine = "built in";  // source of the machine constants
  std::optional<CheckpointUse> checkpoint = {};

  double fit() const { return model_iteration == 0 ? 0 : fit_trajectory[model_iteration - 1]; }
  // Of cells that were held out; 0 where none were.
  double test_rmse() const { return held_out_rmse.empty() ? 0 : held_out_rmse[model_iteration - 1]; }
  double residual_norm() const { return (1 - fit()) * norm; }
};

// Describes the result of a decomposition; times are those of the slowest process. Collective.
template <class Real>
CpdRun describe_run(const PreparedTensor<Real>& x, const CpRunOptions& options, const CpResult<Real>& result);
// Describes how the tensor was distributed over several processes.
void describe_distribution(CpdRun& run, const ChosenDistribution& chosen, const PartLoads& loads,
                           const FusedPasses& fused, const MachineModel& machine);

// The keys `formats` and `suggested` of `polyad stats --formats --json`.
nlohmann::ordered_json format_choice_json(const FormatChoice& choice);
// The same as text: a table of the formats, and which one cpd chooses and why.
std::string format_choice_text(const FormatChoice& choice, Index num_components);

// A warning if the fit decreased and an earlier model was kept; otherwise empty.
std::string fall_text(const CpdRun& run);

// Text: "converged", "test error", "iteration limit", "stopped", "interrupted" or "time limit".
std::string stop_text(StopReason stop);

// Name of the method, such as "alternating least squares".
std::string method_text(Method method);
// "iteration", or "evaluation": the unit of the costs of a run.
std::string round_text(Method method);

// The keys of `polyad cpd --json`; docs/json.md names them all.
nlohmann::ordered_json cpd_json(const CpdRun& run);

// The phases of a run that are shown, in order.
std::vector<std::pair<std::string, double>> phase_seconds(const CpdRun& run);

// Summary of a run in a few lines: tensor, distribution, iterations, fit, times, memory.
std::string cpd_text(const CpdRun& run);
// How it was computed, in two lines: the storage format and why, and the passes of an iteration.
std::string cpd_details(const CpdRun& run, std::span<const FormatOption> options);

}  // namespace polyad::report
