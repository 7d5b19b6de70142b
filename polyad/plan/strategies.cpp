#include "polyad/plan/strategies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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
  const auto add = [&](const GridShape& grid) {
    if (std::ranges::find(grids, grid) == grids.end()) grids.push_back(grid);
  };
  add(splatt_grid(rows, parts));
  for (std::size_t m = 0; m < rows.size(); ++m) {
    std::vector<int> dims(rows.size(), 1);
    dims[m] = parts;
    add(GridShape(dims));
  }
  return grids;
}

Strategy medium_strategy(const Distributor& distributor, const GridShape& grid, const LayerPolicy& policy,
                         RowRule rule) {
  return {
      Scheme::medium, "block",
      grid,           policy,
      rule,           [&distributor, grid, policy, rule] { return distributor.medium(grid, policy, rule); }};
}

// As "balanced"; nothing for the usual rule of fine grain.
std::string other_text(const std::string& scheme, const std::string& partition, std::optional<RowRule> rule) {
  const auto text = scheme + " " + partition;
  return rule == RowRule::balanced ? text + " " + to_string(*rule) : text;
}

std::string medium_text(const GridShape& grid, const LayerPolicy& policy, RowRule rule) {
  auto text = fmt::format("{} {} {}", to_string(Scheme::medium), to_string(grid), to_string(policy));
  return rule == RowRule::even ? text : text + " " + to_string(rule);
}

constexpr std::size_t num_grids_with_balanced_owners = 2;

class MediumSearch {
 public:
  MediumSearch(const Distributor& distributor, const DistributionOptions& options, std::size_t num_grids,
               const StrategySeconds& seconds)
      : distributor_(distributor), options_(options), num_grids_(num_grids), seconds_(seconds) {}

  void run() {
    for (const auto& strategy : medium_strategies(distributor_, options_))
      tried_.push_back({strategy, seconds_(strategy)});
    if (tried_.empty()) return;
    const auto rule = *tried_.front().strategy.row_rule;
    climb(rule);
    if (!options_.policy)
      for (const auto& from : fastest(rule))
        for (const auto& policy : all_policies()) try_out(*from.grid, policy, rule);
    if (options_.row_rule) return;
    for (const auto& from : fastest(rule)) try_out(*from.grid, *from.policy, RowRule::greedy);
    climb(RowRule::greedy);
    auto greedy = fastest(RowRule::greedy);
    if (greedy.size() > num_grids_with_balanced_owners) greedy.resize(num_grids_with_balanced_owners);
    for (const auto& from : greedy) try_out(*from.grid, *from.policy, RowRule::balanced);
    climb(RowRule::balanced);
  }

 private:
  struct Tried {
    Strategy strategy;
    double seconds;
  };

  void try_out(const GridShape& grid, const LayerPolicy& policy, RowRule rule) {
    const bool is_known = std::ranges::any_of(tried_, [&](const Tried& tried) {
      const auto& known = tried.strategy;
      return known.grid == grid && known.policy == policy && known.row_rule == rule;
    });
    if (is_known) return;
    const auto strategy = medium_strategy(distributor_, grid, policy, rule);
    tried_.push_back({strategy, seconds_(strategy)});
  }

  // The fastest on different grids with this rule, copied because `tried_` grows.
  std::vector<Strategy> fastest(RowRule rule) const {
    auto by_time = tried_;
    std::ranges::stable_sort(by_time, {}, &Tried::seconds);
    std::vector<Strategy> found;
    for (const auto& tried : by_time) {
      const auto& strategy = tried.strategy;
      const bool is_new =
          std::ranges::none_of(found, [&](const Strategy& one) { return one.grid == strategy.grid; });
      if (found.size() < num_grids_ && strategy.row_rule == rule && is_new) found.push_back(strategy);
    }
    return found;
  }

  void climb(RowRule rule) {
    if (options_.grid || options_.grid_rule != DistributionOptions::GridRule::fastest) return;
    for (std::optional<GridShape> at;;) {
      const auto best = fastest(rule).front();
      if (at == best.grid) return;
      at = best.grid;
      for (const auto& grid : neighbouring_grids(*at)) try_out(grid, *best.policy, rule);
    }
  }

  const Distributor& distributor_;
  const DistributionOptions& options_;
  std::size_t num_grids_;
  const StrategySeconds& seconds_;
  std::vector<Tried> tried_;
};

Spread spread_of(const std::vector<PartLoad>& parts, Index num_parts, Index PartLoad::*count, Index times) {
  Spread spread;
  double sum = 0;
  for (const auto& part : parts) {
    spread.max = std::max(spread.max, part.*count * times);
    sum += double(part.*count * times);
  }
  spread.avg = sum / double(num_parts);
  return spread;
}

}  // namespace

std::string describe(const Distribution& distribution) {
  if (distribution.grid) return medium_text(*distribution.grid, *distribution.policy, distribution.row_rule);
  return other_text(to_string(distribution.scheme), distribution.partition, distribution.row_rule);
}

std::string describe(const Strategy& strategy) {
  if (strategy.grid) return medium_text(*strategy.grid, *strategy.policy, *strategy.row_rule);
  return other_text(to_string(strategy.scheme), strategy.partition, strategy.row_rule);
}

std::vector<Strategy> coarse_strategies(const Distributor& distributor, const DistributionOptions& options) {
  std::vector<Strategy> found;
  if (wants(options, Scheme::coarse, Partition::block))
    found.push_back({Scheme::coarse, "block", {}, {}, {}, [&] { return distributor.coarse_block(); }});
  if (wants(options, Scheme::coarse, Partition::random))
    found.push_back({Scheme::coarse, "random", {}, {}, {}, [&] { return distributor.coarse_random(); }});
  return found;
}

std::vector<Strategy> fine_strategies(const Distributor& distributor, const DistributionOptions& options) {
  std::vector<Strategy> found;
  if (options.row_rule == RowRule::even) return found;
  const auto rule = options.row_rule.value_or(RowRule::greedy);
  const auto by_rule = [rule](Distribution distribution) {
    distribution.row_rule = rule;
    return distribution;
  };
  if (wants(options, Scheme::fine, Partition::block))
    found.push_back({Scheme::fine, "block", {}, {}, rule, [&distributor, by_rule] {
                       return by_rule(distributor.fine_block());
                     }});
  if (wants(options, Scheme::fine, Partition::random))
    found.push_back({Scheme::fine, "random", {}, {}, rule, [&distributor, by_rule] {
                       return by_rule(distributor.fine_random());
                     }});
  return found;
}

std::vector<RowRule> row_rules_to_compare(Scheme scheme, const DistributionOptions& options) {
  if (scheme != Scheme::fine) return {};
  if (options.row_rule) return {*options.row_rule};
  return {RowRule::greedy, RowRule::balanced};
}

std::vector<Strategy> medium_strategies(const Distributor& distributor, const DistributionOptions& options) {
  std::vector<Strategy> found;
  if (options.scheme == Scheme::medium && options.partition == Partition::random)
    throw Error(Errc::bad_option,
                "medium grain cuts every mode into blocks; a random partition is for coarse or fine grain");
  if (!wants(options, Scheme::medium, Partition::block) || options.row_rule == RowRule::random) return found;
  for (const auto& grid : grids(distributor, options))
    found.push_back(medium_strategy(distributor, grid, options.policy.value_or(LayerPolicy{}),
                                    options.row_rule.value_or(RowRule::even)));
  return found;
}

void explore_medium(const Distributor& distributor, const DistributionOptions& options, std::size_t num_grids,
                    const StrategySeconds& seconds) {
  MediumSearch(distributor, options, num_grids, seconds).run();
}

StrategyLoads plan_loads(const LoadPlanner& planner, const Distribution& distribution,
                         const DistributionOptions& options, Index num_components,
                         const MachineModel& machine) {
  constexpr double clearly = 0.8;
  StrategyLoads result{planner.loads(distribution, IdleParts::one), {}};
  if (distribution.scheme == Scheme::coarse || distribution.num_parts == 1) return result;
  for (int m = 0; m < int(result.loads.size()); ++m) {
    auto& mode = result.loads[m];
    const auto seconds = [&] { return predict_time(result.loads, m, num_components, machine).seconds(); };
    const double exchanged = seconds();
    auto other = mode;
    replicate(other);
    std::swap(mode, other);
    const bool is_better =
        options.is_replicated ? (*options.is_replicated)[m] : seconds() < clearly * exchanged;
    if (!is_better) std::swap(mode, other);
    result.is_replicated.push_back(is_better);
  }
  return result;
}

StrategyCost cost_of(const PartLoads& loads, Index num_components, const MachineModel& machine) {
  StrategyCost cost;
  std::vector<Index> rows_sent(loads.front().size(), 0), messages(rows_sent);
  for (const auto& parts : loads) {
    cost.modes.push_back({spread_of(parts, loads.num_parts(), &PartLoad::nonzeros, 1),
                          spread_of(parts, loads.num_parts(), &PartLoad::sent, num_components),
                          spread_of(parts, loads.num_parts(), &PartLoad::messages, 1)});
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
