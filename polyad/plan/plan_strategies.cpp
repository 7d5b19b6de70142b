#include "polyad/plan/plan_strategies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ranges>

#include "polyad/distributed/repeated_nonzeros.hpp"
#include "polyad/plan/strategy_memory.hpp"

namespace polyad {
namespace {

// Number of grids, the fastest with policy nnz, on which other policies and owners of rows are tried: all
// grids up to order 5.
constexpr std::size_t max_grids_for_policies = 16;

// Those on one number of processes.
class PlanOfParts {
 public:
  PlanOfParts(const SparseTensor<double>& x, const LoadPlanner& planner, const FusedPasses& fused,
              int num_parts, const StrategyPlanOptions& options, Progress& progress)
      : planner_(planner),
        fused_(fused),
        options_(options),
        progress_(progress),
        distributor_(Comm::self(), x, num_parts, options.distribution.seed),
        profile_seconds_(watch_.lap()) {
    distributor_.set_listed_owners(options.rows);
    check_exchange(options.distribution, x.order(), num_parts);
    for (int part = 0; options.processes_per_machine > 0 && part < num_parts; ++part)
      machines_.push_back(part / options.processes_per_machine);
  }

  std::vector<PlannedStrategy> run() {
    if (distributor_.num_parts() == 1) {
      evaluate({Scheme::fine, "", {}, {}, {}, [&] { return distributor_.fine_block(); }});
      return std::move(found_);
    }
    explore_medium(distributor_, options_.distribution, max_grids_for_policies,
                   [&](const Strategy& strategy) {
                     evaluate(strategy);
                     return found_.back().seconds();
                   });
    evaluate_all(coarse_strategies(distributor_, options_.distribution));
    evaluate_all(fine_strategies(distributor_, options_.distribution));
    if (options_.further) evaluate_all(options_.further(distributor_));
    std::ranges::stable_sort(found_, {}, &PlannedStrategy::seconds);
    break_even();
    return std::move(found_);
  }

 private:
  void evaluate_all(const std::vector<Strategy>& strategies) {
    for (const auto& strategy : strategies) evaluate(strategy);
  }

  void evaluate(const Strategy& strategy) {
    watch_.lap();
    auto distribution = strategy.make();
    distribution.machines = machines_;
    const double seconds = profile_seconds_ + watch_.seconds();
    if (strategy.scheme != Scheme::fine || distributor_.num_parts() == 1)
      add(strategy, distribution, seconds);
    else
      for (const auto rule : row_rules_to_compare(strategy.scheme, options_.distribution)) {
        auto with_rule = strategy;
        with_rule.row_rule = rule;
        add(std::move(with_rule), distributor_.with_owners(distribution, rule), seconds);
      }
  }

  void add(Strategy strategy, const Distribution& distribution, double partition_seconds) {
    auto& planned = found_.emplace_back();
    planned.processes = distributor_.num_parts();
    planned.strategy = std::move(strategy);
    planned.strategy.make = nullptr;  // it refers to the distributor
    planned.partition_seconds = partition_seconds;
    const auto planned_loads =
        plan_loads(planner_, distribution, options_.distribution, options_.num_components, options_.machine);
    planned.is_replicated = planned_loads.is_replicated;
    planned.num_stages = planned_loads.num_stages;
    planned.cost = cost_of(planned_loads.loads, options_.num_components, options_.machine, fused_);
    const auto need =
        memory_need(planned_loads.loads, distribution.scheme, options_.num_components, options_.max_bytes,
                    "auto", {.threads = options_.machine.threads, .machine = options_.machine});
    planned.memory_bytes = need.bytes;
    planned.fits = need.fits;
    progress_.advance(1);
  }

  void break_even() {
    const auto is_cheap = [](const PlannedStrategy& planned) {
      return planned.strategy.partition == "block";
    };
    // By predicted time, so that the first is the fastest.
    auto cheap = std::ranges::find_if(found_, is_cheap);
    if (cheap == found_.end()) cheap = found_.begin();
    for (auto& planned : found_) {
      const double saved = cheap->seconds() - planned.seconds();
      const double extra = planned.partition_seconds - cheap->partition_seconds;
      if (&planned == &*cheap || (saved > 0 && extra <= 0))
        planned.break_even_iterations = 0;
      else if (saved > 0 && extra / saved < 1e15)
        planned.break_even_iterations = Index(std::ceil(extra / saved));
    }
  }

  const LoadPlanner& planner_;
  const FusedPasses& fused_;
  const StrategyPlanOptions& options_;
  Progress& progress_;
  Stopwatch watch_;
  Distributor distributor_;
  double profile_seconds_;
  std::vector<int> machines_;  // [part]; empty: one
  std::vector<PlannedStrategy> found_;
};

std::optional<std::size_t> fastest_that_fits(const std::vector<PlannedStrategy>& strategies, int processes) {
  std::optional<std::size_t> best;
  for (std::size_t s = 0; s < strategies.size(); ++s) {
    const auto& planned = strategies[s];
    const bool counts = planned.fits && (processes == 0 || planned.processes == processes);
    if (counts && (!best || planned.seconds() < strategies[*best].seconds())) best = s;
  }
  return best;
}

std::string on_processes(int processes) {
  return processes == 1 ? "" : fmt::format(" on {} processes", processes);
}

std::string reason_for(const StrategyPlan& plan, const StrategyPlanOptions& options) {
  const Index too_large = std::ranges::count(plan.strategies, false, &PlannedStrategy::fits);
  const auto limit = with_prefix(double(options.max_bytes), "B");
  if (!plan.recommended) {
    const auto& smallest = *std::ranges::min_element(plan.strategies, {}, &PlannedStrategy::memory_bytes);
    return fmt::format("none of {} fits into {} per process; {}{} needs the least, {}",
                       plan.strategies.size(), limit, describe(smallest), on_processes(smallest.processes),
                       with_prefix(double(smallest.memory_bytes), "B"));
  }
  const auto& best = plan.strategies[*plan.recommended];
  auto reason = fmt::format("predicted {:.3g} ms per iteration, the fastest of {}", 1e3 * best.seconds(),
                            plan.strategies.size());
  if (too_large > 0) reason += fmt::format(", of which {} do not fit into {}", too_large, limit);
  if (best.processes > 1)
    reason +=
        fmt::format("; {:.0f} % of it is communication", 100 * best.cost.time.communicate / best.seconds());
  return reason;
}

}  // namespace

std::string describe(const PlannedStrategy& planned) {
  return planned.processes == 1 ? "one process" : describe(planned.strategy);
}

std::vector<std::string> exchange_names(const PlannedStrategy& planned, int order) {
  return planned.processes == 1 ? std::vector<std::string>{}
                                : exchange_names(planned.is_replicated, planned.num_stages, order);
}

std::optional<std::size_t> StrategyPlan::recommended_on(int processes) const {
  return fastest_that_fits(strategies, processes);
}

StrategyPlan plan_strategies(const SparseTensor<double>& x, const StrategyPlanOptions& options,
                             Progress& progress) {
  StrategyPlan plan;
  auto repeated = plan.timings.measure(
      "count", [&] { return progress.during("looking for duplicates", [&] { return find_repeated(x); }); });
  plan.num_duplicates = std::ssize(repeated);
  plan.num_nonzeros = x.num_nonzeros() - plan.num_duplicates;
  auto planner = plan.timings.measure("count", [&] {
    return progress.during("grouping nonzeros by row",
                           [&] { return LoadPlanner(Comm::self(), x, 1, std::move(repeated)); });
  });
  const auto fused = plan.timings.measure("count", [&] {
    return progress.during("counting fibers", [&] {
      const Distributor whole(Comm::self(), x, 1, options.distribution.seed);
      const auto shape = shape_of_shares(Comm::self(), x, whole.rows());
      auto passes = fused_passes(shape, {.can_fuse = true}, options.num_components);
      planner.count_nodes(passes.trees);
      return passes;
    });
  });
  for (const int num_parts : options.process_counts) {
    progress.begin(fmt::format("planning for {} processes", num_parts), 0, "strategies");
    auto found = plan.timings.measure(
        "plan", [&] { return PlanOfParts(x, planner, fused, num_parts, options, progress).run(); });
    progress.finish();
    std::ranges::move(found, std::back_inserter(plan.strategies));
  }
  plan.recommended = fastest_that_fits(plan.strategies, 0);
  plan.reason = reason_for(plan, options);
  return plan;
}

}  // namespace polyad
