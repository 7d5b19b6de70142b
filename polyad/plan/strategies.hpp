#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "polyad/distributed/cp/distribution.hpp"
#include "polyad/plan/predicted_time.hpp"

namespace polyad {

// "medium 2x2x1 nnz", "fine random".
std::string describe(const Distribution& distribution);

// A way to distribute a tensor. What it is called is known before it is made, so that a list of many costs
// nothing.
struct Strategy {
  Scheme scheme = Scheme::fine;
  std::string partition;  // "block", "random", ...
  std::optional<GridShape> grid;
  std::optional<LayerPolicy> policy;
  std::function<Distribution()> make;  // Collective, as the distributor is.
};

// What there is of each scheme, so far as the options allow it. The distributor must outlive the strategies.
std::vector<Strategy> coarse_strategies(const Distributor& distributor, const DistributionOptions& options);
std::vector<Strategy> fine_strategies(const Distributor& distributor, const DistributionOptions& options);
// Every grid, with the policy that was asked for or else with equal nonzeros. Throws Error{bad_option} where
// a random partition was asked for.
std::vector<Strategy> medium_strategies(const Distributor& distributor, const DistributionOptions& options);
// The other policies on one grid.
std::vector<Strategy> with_other_policies(const Distributor& distributor, const GridShape& grid,
                                          const DistributionOptions& options);

// What a distribution asks of its parts, with those modes replicated that were asked for or, where nobody
// says, that are predicted to be clearly faster so.
struct StrategyLoads {
  PartLoads loads;
  std::vector<bool> is_replicated;  // [mode]; empty: none is
};
// Collective, as the planner is.
StrategyLoads plan_loads(const LoadPlanner& planner, const Distribution& distribution,
                         const DistributionOptions& options, Index num_components,
                         const MachineModel& machine);

// Of one mode, over the parts.
struct Spread {
  Index max = 0;
  double avg = 0;
};
// An iteration in figures; per mode: nonzeros, words and messages.
struct StrategyCost {
  struct Mode {
    Spread nonzeros;         // multiplied
    Spread words, messages;  // sent
  };
  std::vector<Mode> modes;
  Index volume_words = 0, messages = 0;          // sent by all parts
  Index max_volume_words = 0, max_messages = 0;  // by the part that sends most
  Index all_reduced_words = 0;                   // rows of replicated modes, on each part
  Imbalance imbalance;
  PredictedTime time;
};
// Pure.
StrategyCost cost_of(const PartLoads& loads, Index num_components, const MachineModel& machine);

}  // namespace polyad
