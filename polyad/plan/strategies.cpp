#include "polyad/plan/strategies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/distributed/cp/grid_choice.hpp"
#include "polyad/distributed/cp/routed_plan.hpp"

namespace polyad {
namespace {

using Partition = DistributionOptions::Partition;

// Stages are taken by default if the predicted time of the mode becomes at most this fraction.
constexpr double worth_routing = 0.95;
// Number of pairs of a part and a stage that are counted when stages are chosen.
constexpr int max_counted = 1 << 22;

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
  if (const auto fewer = number_with_small_factors(parts))
    for (const auto& grid : candidate_grids(rows, *fewer, options.num_free_primes)) add(grid);
  return grids;
}

Strategy medium_strategy(const Distributor& distributor, const GridShape& grid, const LayerPolicy& policy,
                         RowRule rule) {
  return {
      Scheme::medium, "block",
      grid,           policy,
      rule,           [&distributor, grid, policy, rule] { return distributor.medium(grid, policy, rule); }};
}

// As " balanced"; nothing for the usual rule.
std::string owners_text(RowRule rule, RowRule usual) {
  if (rule == usual) return "";
  return rule == RowRule::file ? " owners from a file" : " " + to_string(rule);
}

std::string other_text(const std::string& scheme, const std::string& partition, std::optional<RowRule> rule) {
  const bool is_told = rule == RowRule::balanced || rule == RowRule::file;
  return scheme + " " + partition + (is_told ? owners_text(*rule, RowRule::greedy) : "");
}

std::string medium_text(const GridShape& grid, const LayerPolicy& policy, RowRule rule) {
  return fmt::format("{} {} {}{}", to_string(Scheme::medium), to_string(grid), to_string(policy),
                     owners_text(rule, RowRule::even));
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
    if (!options_.policy) {
      // What is even with one rule need not be so with another.
      const auto best = fastest(RowRule::greedy).front();
      for (const auto& policy : all_policies()) try_out(*best.grid, policy, RowRule::greedy);
    }
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

// Whether the stages of modes are searched where they may be any: not where processes have no nonzero each.
bool is_worth_trying(const LoadPlanner& planner, int num_parts) {
  return num_parts >= min_parts_to_route && planner.num_nonzeros() >= num_parts;
}
bool may_route(const LoadPlanner& planner, const Distribution& distribution,
               const DistributionOptions& options) {
  for (int m = 0; m < planner.order(); ++m) {
    const auto kind = options.exchange_of(m).kind;
    if (kind == Exchange::Kind::routed) return true;
    if (kind == Exchange::Kind::any && is_worth_trying(planner, distribution.num_parts)) return true;
  }
  return false;
}

// The stages of a mode that are predicted to be the fastest; `loads` become those.
class StageSearch {
 public:
  StageSearch(const LoadPlanner& planner, const Distribution& distribution, int mode, PartLoads& loads,
              Index num_components, const MachineModel& machine)
      : planner_(planner),
        distribution_(distribution),
        mode_(mode),
        loads_(loads),
        num_components_(num_components),
        machine_(machine) {}

  int run(const DistributionOptions& options) {
    const auto exchange = options.exchange_of(mode_);
    const bool is_free = exchange.kind == Exchange::Kind::any;
    const int most = max_stages(distribution_.num_parts);
    if (exchange.kind == Exchange::Kind::direct || most == 1) return 1;
    if (options.is_replicated && (*options.is_replicated)[mode_]) return 1;
    if (is_free && (!is_worth_trying(planner_, distribution_.num_parts) || !can_gain())) return 1;
    touching_ = planner_.touching(distribution_, mode_);
    direct_ = loads_[mode_];
    if (exchange.num_stages > 0) {
      route(exchange.num_stages);
      return exchange.num_stages;
    }
    // What is kept per part and stage must not take the memory of a plan for very many parts.
    const int affordable = std::max(3, max_counted / distribution_.num_parts);
    return search(std::min(most, affordable),
                  is_free ? worth_routing * seconds() : std::numeric_limits<double>::infinity());
  }

 private:
  double seconds() const { return predict_time(loads_, mode_, num_components_, machine_).seconds(); }

  // Whether less communication could be worth it, and whether there are more messages than stages would have.
  bool can_gain() const {
    const auto time = predict_time(loads_, mode_, num_components_, machine_);
    const auto& parts = loads_[mode_];
    const Index messages = std::ranges::max(parts, {}, &PartLoad::messages).messages;
    return time.communicate > (1 - worth_routing) * time.seconds() &&
           messages > 2 * Index(max_stages(distribution_.num_parts));
  }

  void route(int num_stages) {
    loads_[mode_] = planner_.routed(*touching_, direct_, topology_for(distribution_, mode_, num_stages));
  }

  // 2, 3, 5, 8, 12, ... stages and the most, as long as they are faster; one number of stages that is not may
  // be followed by one that is.
  int search(int most, double limit) {
    int best = 1, num_slower = 0;
    ModeLoads best_loads = direct_;
    for (int s = 2; s <= most && num_slower < 2; s = s == most ? most + 1 : std::min(most, s + (s + 1) / 2)) {
      route(s);
      const double time = seconds();
      num_slower = time < limit ? 0 : num_slower + 1;
      if (time >= limit) continue;
      limit = time;
      best = s;
      best_loads = loads_[mode_];
    }
    loads_[mode_] = std::move(best_loads);
    return best;
  }

  const LoadPlanner& planner_;
  const Distribution& distribution_;
  int mode_;
  PartLoads& loads_;
  Index num_components_;
  const MachineModel& machine_;
  std::optional<LoadPlanner::Touching> touching_;
  ModeLoads direct_;
};

std::vector<int> unless_direct(std::vector<int> num_stages) {
  if (std::ranges::all_of(num_stages, [](int stages) { return stages == 1; })) num_stages.clear();
  return num_stages;
}

template <class Load>
Spread spread_of(const std::vector<Load>& parts, Index num_parts, Index Load::*count, Index times) {
  Spread spread;
  double sum = 0;
  for (const auto& part : parts) {
    spread.max = std::max(spread.max, part.*count * times);
    sum += double(part.*count * times);
  }
  spread.avg = sum / double(num_parts);
  return spread;
}

StrategyCost::Mode::Stage cost_of(const std::vector<StageLoad>& parts, Index num_components) {
  StrategyCost::Mode::Stage cost{spread_of(parts, std::ssize(parts), &StageLoad::sent, num_components),
                                 spread_of(parts, std::ssize(parts), &StageLoad::messages, 1)};
  for (const auto& part : parts) {
    cost.all_words += part.sent * num_components;
    cost.all_messages += part.messages;
  }
  return cost;
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

std::vector<std::string> exchange_names(const std::vector<bool>& is_replicated,
                                        const std::vector<int>& num_stages, int order) {
  std::vector<std::string> names;
  for (int m = 0; m < order; ++m) {
    const int stages = num_stages.empty() ? 1 : num_stages[m];
    const Exchange exchange{stages == 1 ? Exchange::Kind::direct : Exchange::Kind::routed,
                            stages == 1 ? 0 : stages};
    names.push_back(!is_replicated.empty() && is_replicated[m] ? "replicated" : to_string(exchange));
  }
  return names;
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
  const auto by_rule = [&distributor, rule](Distribution distribution) {
    return distributor.with_owners(std::move(distribution), rule);
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

std::optional<std::vector<int>> given_stages(const DistributionOptions& options, int order, int num_parts) {
  std::vector<int> stages;
  for (int m = 0; m < order; ++m) {
    const auto exchange = options.exchange_of(m);
    const bool is_direct = exchange.kind == Exchange::Kind::direct || max_stages(num_parts) == 1 ||
                           (exchange.kind == Exchange::Kind::any && num_parts < min_parts_to_route);
    const bool replicates = options.is_replicated && (*options.is_replicated)[m];
    if (!is_direct && !replicates && exchange.num_stages == 0) return std::nullopt;
    stages.push_back(is_direct || replicates ? 1 : exchange.num_stages);
  }
  return unless_direct(std::move(stages));
}

void check_exchange(const DistributionOptions& options, int order, int num_parts) {
  if (options.exchange.size() > 1 && std::ssize(options.exchange) != order)
    throw Error(Errc::bad_option,
                fmt::format("{}: expected one for all modes, or one for each of the {} modes, not {}",
                            option_name("exchange"), order, options.exchange.size()));
  bool routes = false, can_route = false;
  for (int m = 0; m < order; ++m) {
    const auto exchange = options.exchange_of(m);
    const bool is_routed = exchange.kind == Exchange::Kind::routed;
    const bool replicates = options.is_replicated && (*options.is_replicated)[m];
    if (is_routed && exchange.num_stages != 0 && (exchange.num_stages < 2 || exchange.num_stages > 30))
      throw Error(Errc::bad_option, fmt::format("{} {}: expected at least 2 stages, and at most 30",
                                                option_name("exchange"), to_string(exchange)));
    if (is_routed && num_parts > 1 && exchange.num_stages > max_stages(num_parts))
      throw Error(Errc::bad_option, fmt::format("{} {}: between {} processes rows can {}",
                                                option_name("exchange"), to_string(exchange), num_parts,
                                                num_parts == 2 ? "only go directly"
                                                               : fmt::format("go in at most {} stages",
                                                                             max_stages(num_parts))));
    if (is_routed && replicates && options.exchange.size() > 1)
      throw Error(Errc::bad_option,
                  fmt::format("{}: mode {} is replicated ({}), so that its rows are not sent",
                              option_name("exchange"), m + 1, option_name("is_replicated")));
    routes = routes || is_routed;
    can_route = can_route || (is_routed && !replicates);
  }
  if (routes && !can_route)
    throw Error(Errc::bad_option, fmt::format("{}: all modes are replicated ({}), so that no rows are sent",
                                              option_name("exchange"), option_name("is_replicated")));
}

StrategyLoads plan_loads(const LoadPlanner& planner, const Distribution& distribution,
                         const DistributionOptions& options, Index num_components,
                         const MachineModel& machine) {
  constexpr double clearly = 0.8;
  StrategyLoads result{
      planner.loads(distribution,
                    may_route(planner, distribution, options) ? IdleParts::all : IdleParts::one),
      {},
      {}};
  if (distribution.num_parts == 1) return result;
  std::vector<double> direct;  // [mode]: seconds without stages
  for (int m = 0; m < int(result.loads.size()); ++m) {
    direct.push_back(predict_time(result.loads, m, num_components, machine).seconds());
    result.num_stages.push_back(
        StageSearch(planner, distribution, m, result.loads, num_components, machine).run(options));
  }
  if (distribution.scheme == Scheme::coarse) {
    result.num_stages = unless_direct(std::move(result.num_stages));
    return result;
  }
  for (int m = 0; m < int(result.loads.size()); ++m) {
    auto& mode = result.loads[m];
    const auto seconds = [&] { return predict_time(result.loads, m, num_components, machine).seconds(); };
    const double exchanged = seconds();
    // Stages that nobody asked for must be faster than both other ways.
    const bool is_free = options.exchange_of(m).kind == Exchange::Kind::any;
    const double limit =
        is_free ? std::min(clearly * direct[m], exchanged / worth_routing) : clearly * exchanged;
    auto other = mode;
    replicate(other);
    std::swap(mode, other);
    const bool is_routed_by_wish =
        options.exchange_of(m).kind == Exchange::Kind::routed && result.num_stages[m] > 1;
    const bool is_better =
        options.is_replicated ? (*options.is_replicated)[m] : !is_routed_by_wish && seconds() < limit;
    if (!is_better) std::swap(mode, other);
    result.is_replicated.push_back(is_better);
    if (is_better) result.num_stages[m] = 1;
  }
  result.num_stages = unless_direct(std::move(result.num_stages));
  return result;
}

StrategyCost cost_of(const PartLoads& loads, Index num_components, const MachineModel& machine,
                     const FusedPasses& fused) {
  StrategyCost cost;
  std::vector<Index> rows_sent(loads.front().size(), 0), messages(rows_sent);
  for (const auto& parts : loads) {
    cost.modes.push_back({spread_of(parts, loads.num_parts(), &PartLoad::nonzeros, 1),
                          spread_of(parts, loads.num_parts(), &PartLoad::sent, num_components),
                          spread_of(parts, loads.num_parts(), &PartLoad::messages, 1)});
    for (const auto& stage : parts.stages) cost.modes.back().stages.push_back(cost_of(stage, num_components));
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
  cost.time = predict_time(loads, num_components, machine, fused);
  return cost;
}

}  // namespace polyad
