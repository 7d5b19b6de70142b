#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "polyad/distributed/cp/distribution.hpp"
#include "polyad/plan/predicted_time.hpp"

namespace polyad {

// Text such as "medium 2x2x1 nnz", "fine random".
std::string describe(const Distribution& distribution);
struct Strategy;
std::string describe(const Strategy& strategy);

// A way to distribute a tensor. Its name is known before the
// distribution is computed, so that long lists are cheap.
struct Strategy {
  Scheme scheme = Scheme::fine;
  std::string partition;  // "block", "random", ...
  std::optional<GridShape> grid;
  std::optional<LayerPolicy> policy;
  std::optional<RowRule> row_rule;     // nothing in coarse grain, whose slices have their rows
  std::function<Distribution()> make;  // computes the distribution; collective, as the distributor is
};

// All strategies of a scheme that the options allow. The distributor must outlive the strategies.
std::vector<Strategy> coarse_strategies(const Distributor& distributor, const DistributionOptions& options);
// Fine grain has the row rule of the options or else `greedy`.
std::vector<Strategy> fine_strategies(const Distributor& distributor, const DistributionOptions& options);
// Row rules that are compared for a distribution of this scheme that is made already: in fine grain that of
// the options or else greedy and balanced; nothing in the others.
std::vector<RowRule> row_rules_to_compare(Scheme scheme, const DistributionOptions& options);
// Every candidate grid, also of a few parts less where their number has a large prime factor, with the policy
// of the options or else with equal nonzeros, and with the row rule of the options or else `even`. Throws
// Error{bad_option} if a random partition is required.
std::vector<Strategy> medium_strategies(const Distributor& distributor, const DistributionOptions& options);
// Calls `seconds`, once each, for the strategies of medium grain that are worth a prediction: all candidate
// grids; from the fastest on, grids that differ by one prime factor, which divides another mode instead, as
// long as this is faster; the other policies on the fastest `num_grids` of them; with owners chosen greedily,
// the fastest `num_grids`, from the best of these on its neighbours again, and the other policies on the
// best; and with balanced owners, the two fastest of those, and neighbours.
using StrategySeconds = std::function<double(const Strategy& strategy)>;
void explore_medium(const Distributor& distributor, const DistributionOptions& options, std::size_t num_grids,
                    const StrategySeconds& seconds);

// Fewer parts exchange rows directly by default: there are few messages to save.
inline constexpr int min_parts_to_route = 32;

// [mode]: "direct", "routed:3" or "replicated".
std::vector<std::string> exchange_names(const std::vector<bool>& is_replicated,
                                        const std::vector<int>& num_stages, int order);

// Loads of the parts of a distribution, in which those modes are replicated that the options say or, by
// default, that are predicted to be clearly faster replicated; and the rows of the others go in as many
// stages as the options say or, by default on many parts, as are predicted to be faster.
struct StrategyLoads {
  PartLoads loads;
  std::vector<bool> is_replicated;  // [mode]; empty: none is
  std::vector<int> num_stages;      // [mode]; empty: one in all, that is, rows go directly
};
// Computes these loads. Collective, as the planner is.
StrategyLoads plan_loads(const LoadPlanner& planner, const Distribution& distribution,
                         const DistributionOptions& options, Index num_components,
                         const MachineModel& machine);

// The number of stages of every mode as in Distribution, if the options leave nothing to a prediction for so
// many parts.
std::optional<std::vector<int>> given_stages(const DistributionOptions& options, int order, int num_parts);
// Throws Error{bad_option} for stages that so many parts cannot have, and for an exchange of other modes.
void check_exchange(const DistributionOptions& options, int order, int num_parts);

// Maximum and mean of a quantity over the parts.
struct Spread {
  Index max = 0;
  double avg = 0;
};
// Costs of an iteration: nonzeros, words and messages per mode, totals and predicted time.
struct StrategyCost {
  struct Mode {
    Spread nonzeros;         // that a part multiplies
    Spread words, messages;  // that a part sends
    struct Stage {
      Spread words, messages;
      Index all_words = 0, all_messages = 0;  // sent by all parts
    };
    std::vector<Stage> stages = {};  // empty: rows go directly
  };
  std::vector<Mode> modes;
  Index volume_words = 0, messages = 0;          // sent by all parts
  Index max_volume_words = 0, max_messages = 0;  // sent by the part that sends the most
  Index all_reduced_words = 0;                   // of replicated modes, contributed by each part
  Imbalance imbalance;
  PredictedTime time;
};
// Computes the costs from the loads of the parts.
StrategyCost cost_of(const PartLoads& loads, Index num_components, const MachineModel& machine,
                     const FusedPasses& fused = {});

}  // namespace polyad
