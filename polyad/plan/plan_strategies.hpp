#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "polyad/base/progress.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/plan/strategies.hpp"

namespace polyad {

// Strategies besides those that are listed anyway, such as a partition from a file, for this many parts.
using FurtherStrategies = std::function<std::vector<Strategy>(const Distributor& distributor)>;

struct StrategyPlanOptions {
  std::vector<int> process_counts;  // ascending
  Index num_components = 16;
  DistributionOptions distribution;  // what is said is kept; the rest is tried
  FurtherStrategies further;
  Index max_bytes = 0;  // of memory, per process; 0: no limit
  MachineModel machine;
};

// One strategy on so many processes, without running it.
struct PlannedStrategy {
  int processes = 1;
  Strategy strategy;                // on one process there is none: its partition is empty
  std::vector<bool> is_replicated;  // [mode]; empty: none is
  StrategyCost cost;
  Index memory_bytes = 0;  // of the process that needs most, with one thread
  bool fits = true;
  double partition_seconds = 0;  // to make the distribution, as measured here
  // After so many iterations the time to make it is saved again, against the fastest strategy on as many
  // processes that cuts by counts of slices alone; nothing: never.
  std::optional<Index> break_even_iterations;

  double seconds() const { return cost.time.seconds(); }
};

struct StrategyPlan {
  std::vector<PlannedStrategy> strategies;  // by processes, then by predicted time
  std::optional<std::size_t> recommended;   // the fastest of those that fit
  std::string reason;
  Index num_nonzeros = 0, num_duplicates = 0;
  Timings timings;

  // The fastest on so many processes that fits.
  std::optional<std::size_t> recommended_on(int processes) const;
};

// Evaluates every strategy on every number of processes, all in this one. Words, messages and loads are those
// that a run has.
StrategyPlan plan_strategies(const SparseTensor<double>& x, const StrategyPlanOptions& options,
                             Progress& progress);

// "medium 4x4x1 nnz", "fine random", "one process".
std::string describe(const PlannedStrategy& planned);

}  // namespace polyad
