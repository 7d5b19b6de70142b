#include "polyad/plan/strategies.hpp"

#include <algorithm>

#include "polyad/base/error.hpp"
#include "polyad/distributed/cp/grid_choice.hpp"

namespace polyad {
namespace {

using Partition = DistributionOptions::Partition;

bool wants(const DistributionOptions& options, Scheme scheme, Partition partition) {
  const bool is_allowed =
      options.scheme ? *options.scheme == scheme : options.allows_coarse || scheme != Scheme::coarse;
  return is_allowed && (options.partition == Partition::any || options.partition == partition);
}

std::vector<GridShape> grids(const Distributor& distributor, const DistributionOptions& options) {
  using Rule = DistributionOptions::GridRule;
  const auto rows = distributor.rows();
  const int parts = distributor.num_parts();
  if (options.grid) return {*options.grid};
  if (options.grid_rule == Rule::splatt) return {splatt_grid(rows, parts)};
  if (options.grid_rule == Rule::predicted)
    return {predicted_grid(distributor.profiles(), parts, options.num_free_primes)};
  auto grids = candidate_grids(rows, parts, options.num_free_primes);
  const auto splatt = splatt_grid(rows, parts);
  if (std::ranges::find(grids, splatt) == grids.end()) grids.push_back(splatt);
  return grids;
}

Strategy medium_strategy(const Distributor& distributor, const GridShape& grid, const LayerPolicy& policy) {
  return {Scheme::medium, "block", grid, policy,
          [&distributor, grid, policy] { return distributor.medium(grid, policy); }};
}

Spread spread_of(const std::vector<PartLoad>& parts, Index PartLoad::*count, Index times) {
  Spread spread;
  double sum = 0;
  for (const auto& part : parts) {
    spread.max = std::max(spread.max, part.*count * times);
    sum += double(part.*count * times);
  }
  spread.avg = sum / double(parts.size());
  return spread;
}

}  // namespace

std::string describe(const Distribution& distribution) {
  auto text = to_string(distribution.scheme);
  if (distribution.grid) text += " " + to_string(*distribution.grid);
  if (distribution.policy) return text + " " + to_string(*distribution.policy);
  return text + " " + distribution.partition;
}

std::vector<Strategy> coarse_strategies(const Distributor& distributor, const DistributionOptions& options) {
  std::vector<Strategy> found;
  if (wants(options, Scheme::coarse, Partition::block))
    found.push_back({Scheme::coarse, "block", {}, {}, [&] { return distributor.coarse_block(); }});
  if (wants(options, Scheme::coarse, Partition::random))
    found.push_back({Scheme::coarse, "random", {}, {}, [&] { return distributor.coarse_random(); }});
  return found;
}

std::vector<Strategy> fine_strategies(const Distributor& distributor, const DistributionOptions& options) {
  std::vector<Strategy> found;
  const auto by_rule = [rule = options.row_rule](Distribution distribution) {
    distribution.row_rule = rule;
    return distribution;
  };
  if (wants(options, Scheme::fine, Partition::block))
    found.push_back({Scheme::fine, "block", {}, {}, [&distributor, by_rule] {
                       return by_rule(distributor.fine_block());
                     }});
  if (wants(options, Scheme::fine, Partition::random))
    found.push_back({Scheme::fine, "random", {}, {}, [&distributor, by_rule] {
                       return by_rule(distributor.fine_random());
                     }});
  return found;
}

std::vector<Strategy> medium_strategies(const Distributor& distributor, const DistributionOptions& options) {
  std::vector<Strategy> found;
  if (options.scheme == Scheme::medium && options.partition == Partition::random)
    throw Error(Errc::bad_option,
                "medium grain cuts every mode into blocks; a random partition is for coarse or fine grain");
  if (!wants(options, Scheme::medium, Partition::block)) return found;
  for (const auto& grid : grids(distributor, options))
    found.push_back(medium_strategy(distributor, grid, options.policy.value_or(LayerPolicy{})));
  return found;
}

std::vector<Strategy> with_other_policies(const Distributor& distributor, const GridShape& grid,
                                          const DistributionOptions& options) {
  std::vector<Strategy> found;
  if (options.policy) return found;
  for (const auto& policy : all_policies())
    if (policy != LayerPolicy{}) found.push_back(medium_strategy(distributor, grid, policy));
  return found;
}

StrategyLoads plan_loads(const LoadPlanner& planner, const Distribution& distribution,
                         const DistributionOptions& options, Index num_components,
                         const MachineModel& machine) {
  constexpr double clearly = 0.8;
  StrategyLoads result{planner.loads(distribution), {}};
  if (distribution.scheme == Scheme::coarse || distribution.num_parts == 1) return result;
  for (int m = 0; m < int(result.loads.size()); ++m) {
    auto& mode = result.loads[m];
    const auto seconds = [&] { return predict_time(result.loads, m, num_components, machine).seconds(); };
    const double exchanged = seconds();
    const auto exchanged_mode = mode;
    replicate(mode);
    const bool is_better =
        options.is_replicated ? (*options.is_replicated)[m] : seconds() < clearly * exchanged;
    if (!is_better) mode = exchanged_mode;
    result.is_replicated.push_back(is_better);
  }
  return result;
}

StrategyCost cost_of(const PartLoads& loads, Index num_components, const MachineModel& machine) {
  StrategyCost cost;
  std::vector<Index> rows_sent(loads.front().size(), 0), messages(rows_sent);
  for (const auto& parts : loads) {
    cost.modes.push_back({spread_of(parts, &PartLoad::nonzeros, 1),
                          spread_of(parts, &PartLoad::sent, num_components),
                          spread_of(parts, &PartLoad::messages, 1)});
    for (std::size_t p = 0; p < parts.size(); ++p) {
      rows_sent[p] += parts[p].sent;
      messages[p] += parts[p].messages;
    }
    cost.all_reduced_words += parts.front().reduced * num_components;
  }
  for (std::size_t p = 0; p < rows_sent.size(); ++p) {
    cost.volume_words += rows_sent[p] * num_components;
    cost.messages += messages[p];
  }
  cost.max_volume_words = std::ranges::max(rows_sent) * num_components;
  cost.max_messages = std::ranges::max(messages);
  cost.imbalance = imbalance_of(loads);
  cost.time = predict_time(loads, num_components, machine);
  return cost;
}

}  // namespace polyad
