#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "polyad/base/progress.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/plan/strategies.hpp"

namespace polyad {

// Returns strategies in addition to the standard ones, such as a partition from a file, for a distributor.
using FurtherStrategies = std::function<std::vector<Strategy>(const Distributor& distributor)>;

struct StrategyPlanOptions {
  std::vector<int> process_counts;  // numbers of processes to plan for, ascending
  Index num_components = 16;
  DistributionOptions distribution;  // what is given is kept; the rest is varied
  std::vector<RowOwners> rows;       // [mode]: the owners that RowRule::file means
  FurtherStrategies further;
  int processes_per_machine = 0;  // with consecutive ranks; 0: all
  Index max_bytes = 0;            // memory limit per process; 0: no limit
  MachineModel machine;
};

// A strategy with its predicted cost on a number of processes.
struct PlannedStrategy {
  int processes = 1;
  Strategy strategy;                // on one process there is none: its partition is empty
  std::vector<bool> is_replicated;  // [mode]; empty: none is
  std::vector<int> num_stages;      // [mode]: in which rows are exchanged; empty: directly in all
  StrategyCost cost;
  Index memory_bytes = 0;  // predicted, of the process that needs the most
  bool fits = true;
  double partition_seconds = 0;  // time to compute the distribution, measured while planning
  // Number of iterations after which `partition_seconds` is regained, compared with the
  // fastest strategy on as many processes that needs slice counts only; nothing: never.
  std::optional<Index> break_even_iterations;

  double seconds() const { return cost.time.seconds(); }
};

struct StrategyPlan {
  std::vector<PlannedStrategy> strategies;  // ordered by processes, then by predicted time
  std::optional<std::size_t> recommended;   // index of the fastest that fits; nothing: none fits
  std::string reason;                       // of the recommendation, a sentence
  Index num_nonzeros = 0, num_duplicates = 0;
  Timings timings;

  // Index of the fastest strategy on this number of processes that fits; nothing if none fits.
  std::optional<std::size_t> recommended_on(int processes) const;
};

// Evaluates every strategy for every number of processes, on one
// process. Words, messages and loads are exactly those of a run.
StrategyPlan plan_strategies(const SparseTensor<double>& x, const StrategyPlanOptions& options,
                             Progress& progress);

// [mode]: how its rows are exchanged: "direct", "routed:3" or "replicated"; empty on one process.
std::vector<std::string> exchange_names(const PlannedStrategy& planned, int order);

// Text such as "medium 4x4x1 nnz", "fine random", "one process".
std::string describe(const PlannedStrategy& planned);

}  // namespace polyad
