#include "polyad/tasks/plan.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/hypergraph/partition_kinds.hpp"
#include "polyad/report/html/plan_page.hpp"
#include "polyad/report/plan_report.hpp"
#include "polyad/tasks/decompose.hpp"
#include "polyad/tasks/detail/decide_distribution.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/machine_file.hpp"
#include "polyad/tasks/detail/output/output_files.hpp"
#include "polyad/tasks/detail/process_counts.hpp"
#include "polyad/tasks/detail/settings.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"

namespace polyad {

struct Plan::State {
  report::PlanRun run;
  std::vector<PlanCandidate> candidates;
  std::string summary;
  std::vector<Setting> settings;
};

namespace {

constexpr int max_planned_processes = 1 << 20, max_threads_per_process = 1 << 16;

void check_hypergraph(const PlanOptions& options, const DistributionOptions& distribution) {
  const auto maximum = std::ranges::max(options.processes);
  if (distribution.scheme == Scheme::medium)
    tasks::refuse_option(option_name("with_hypergraph") +
                         " applies to fine and coarse grain, but medium grain was given");
  if (maximum > hypergraph::max_parts)
    tasks::refuse_option(fmt::format("{} is for up to {} processes, not for {}",
                                     option_name("with_hypergraph"), hypergraph::max_parts, maximum));
}

// Partitions that are made or read, not counted out.
FurtherStrategies further_strategies(const PlanOptions& asked_for, const SparseTensor<double>& x,
                                     const StrategyPlanOptions& options, std::vector<std::string>& notices) {
  std::vector<FurtherStrategies> all;
  if (asked_for.distribution.partition == DistributionOptions::Partition::file)
    all.push_back(tasks::partition_from_file(options.distribution, x, options.process_counts));
  if (asked_for.with_hypergraph)
    all.push_back(
        tasks::partitions_of_hypergraphs(x, options.distribution, asked_for.time_limit_seconds, notices));
  else if (asked_for.distribution.partition == DistributionOptions::Partition::any)
    all.push_back(tasks::kept_partitions_of_hypergraphs(x, options.distribution));
  return [all](const Distributor& distributor) {
    std::vector<Strategy> found;
    for (const auto& some : all)
      for (auto& strategy : some(distributor)) found.push_back(std::move(strategy));
    return found;
  };
}

StrategyPlanOptions strategy_options(const PlanOptions& asked_for, const MachineModel& machine) {
  StrategyPlanOptions options;
  options.process_counts = tasks::ascending(asked_for.processes);
  options.num_components = asked_for.rank;
  options.distribution = tasks::checked(asked_for.distribution);
  if (options.distribution.partition == DistributionOptions::Partition::file)  // is one strategy among others
    options.distribution.partition = DistributionOptions::Partition::any;
  options.processes_per_machine = asked_for.processes_per_machine;
  options.max_bytes = asked_for.max_memory_bytes;
  options.machine = machine.with_threads(asked_for.threads_per_process);
  return options;
}

// Owners in a file are for all numbers of processes; a single process has all rows.
std::vector<RowOwners> given_rows(const StrategyPlanOptions& options, std::span<const Index> extents) {
  if (options.distribution.row_rule != RowRule::file) return {};
  int num_parts = std::numeric_limits<int>::max();
  for (const int processes : options.process_counts)
    if (processes > 1) num_parts = std::min(num_parts, processes);
  return tasks::rows_from_file(options.distribution, extents, num_parts,
                               fmt::format("the plan is also for {} processes", num_parts));
}

DistributionOptions::Partition partition_of(const std::string& name) {
  using Kind = DistributionOptions::Partition;
  if (name == "block") return Kind::block;
  if (name == "random") return Kind::random;
  if (name == "file") return Kind::file;
  return Kind::hypergraph;
}

// What makes decompose take it; as report::cpd_options for the program.
DistributionOptions distribution_of(const PlannedStrategy& planned, const PlanOptions& options, int order) {
  DistributionOptions distribution;
  distribution.seed = options.distribution.seed;
  if (planned.processes == 1) return distribution;
  const auto& strategy = planned.strategy;
  distribution.scheme = strategy.scheme;
  distribution.grid = strategy.grid;
  distribution.policy = strategy.policy;
  if (!strategy.grid) distribution.partition = partition_of(strategy.partition);
  if (strategy.partition == "file") distribution.partition_file = options.distribution.partition_file;
  if (strategy.partition == "hypergraph") distribution.cache = options.distribution.cache;
  distribution.row_rule = strategy.row_rule;
  if (strategy.row_rule == RowRule::file) distribution.row_owners_file = options.distribution.row_owners_file;
  if (strategy.scheme != Scheme::coarse) {
    distribution.is_replicated = planned.is_replicated;
    distribution.is_replicated->resize(std::size_t(order), false);
  }
  for (int m = 0; m < order && !planned.num_stages.empty(); ++m)
    distribution.exchange.push_back(planned.num_stages[m] == 1
                                        ? Exchange{Exchange::Kind::direct, 0}
                                        : Exchange{Exchange::Kind::routed, planned.num_stages[m]});
  if (planned.num_stages.empty()) distribution.exchange = {{Exchange::Kind::direct, 0}};
  return distribution;
}

PlanCandidate candidate_of(const PlannedStrategy& planned, const PlanOptions& options, int order) {
  PlanCandidate candidate;
  const auto& cost = planned.cost;
  candidate.processes = planned.processes;
  candidate.name = describe(planned);
  candidate.seconds_per_iteration = planned.seconds();
  candidate.multiply_seconds = cost.time.multiply;
  candidate.update_seconds = cost.time.update;
  candidate.communicate_seconds = cost.time.communicate;
  candidate.memory_bytes = planned.memory_bytes;
  candidate.fits = planned.fits;
  candidate.volume_words = cost.volume_words;
  candidate.max_volume_words = cost.max_volume_words;
  candidate.messages = cost.messages;
  candidate.max_messages = cost.max_messages;
  candidate.all_reduced_words = cost.all_reduced_words;
  candidate.partition_seconds = planned.partition_seconds;
  candidate.break_even_iterations = planned.break_even_iterations;
  candidate.distribution = distribution_of(planned, options, order);
  return candidate;
}

}  // namespace

void validate(const PlanOptions& options) {
  if (options.rank < 1 || options.rank > max_rank)
    tasks::refuse_option(
        fmt::format("{} {}: expected a number from 1 to {}", option_name("rank"), options.rank, max_rank));
  if (options.threads_per_process < 1 || options.threads_per_process > max_threads_per_process)
    tasks::refuse_option(fmt::format("{} {}: expected a number from 1 to {}",
                                     option_name("threads_per_process"), options.threads_per_process,
                                     max_threads_per_process));
  if (options.processes_per_machine < 0 || options.processes_per_machine > max_planned_processes)
    tasks::refuse_option(fmt::format("{} {}: expected a number from 1 to {}, or 0 for one machine",
                                     option_name("processes_per_machine"), options.processes_per_machine,
                                     max_planned_processes));
  tasks::require_memory_limit(options.max_memory_bytes);
  tasks::check_counts("processes", options.processes, max_planned_processes);
  if (!(options.time_limit_seconds > 0))
    tasks::refuse_option(fmt::format("{} {}: expected a positive number of seconds",
                                     option_name("time_limit_seconds"), options.time_limit_seconds));
  if (!options.distribution.cache.empty() && !options.with_hypergraph)
    tasks::refuse_option(fmt::format("{} requires {}", option_name("cache"), option_name("with_hypergraph")));
  if (options.distribution.partition == DistributionOptions::Partition::hypergraph)
    tasks::refuse_option(fmt::format("{} hypergraph is not for plans: use {}", option_name("partition"),
                                     option_name("with_hypergraph")));
  const auto distribution = tasks::checked(options.distribution);
  for (const int count : options.processes)
    if (distribution.grid && distribution.grid->size() > count)
      tasks::refuse_option(fmt::format("the grid {} is for {} processes, not for as few as {}",
                                       to_string(*distribution.grid), distribution.grid->size(), count));
  if (options.with_hypergraph) check_hypergraph(options, distribution);
}

Plan plan(const Context& context, const Tensor& x, const PlanOptions& options) {
  const tasks::TaskScope scope(context);
  tasks::require_one_process(context, "plan");
  validate(options);
  tasks::require_order(x.tensor.order());
  const auto machine = tasks::load_machine(context.comm());
  auto state = std::make_shared<Plan::State>();
  state->settings = tasks::settings_of(options, x);
  auto& run = state->run;
  run.load_seconds = x.load_seconds;
  run.input = x.path;
  run.input_files = x.files.empty() ? std::vector{x.path} : x.files;
  run.input_options = options.input_arguments;
  run.partition = options.distribution.partition_file.string();
  run.dims = x.tensor.extents();
  run.machine = machine.source;
  run.threads = num_threads();
  run.options = strategy_options(options, machine.model);
  run.options.rows = given_rows(run.options, x.tensor.extents());
  std::vector<std::string> notices;
  run.options.further = further_strategies(options, x.tensor, run.options, notices);
  run.plan = plan_strategies(x.tensor, run.options, context.progress());
  run.options.further = nullptr;  // it refers to the tensor
  run.peak_memory_bytes = peak_memory_bytes();
  for (const auto& notice : notices) context.warn(notice);
  tasks::warn_of_duplicates(context, x, run.plan.num_duplicates);
  for (const auto& planned : run.plan.strategies)
    state->candidates.push_back(candidate_of(planned, options, x.tensor.order()));
  state->summary = context.shown(report::plan_text(run));
  return Plan(std::move(state));
}

void save_report(const Context& context, const Plan& plan, const std::filesystem::path& path) {
  tasks::write_text(path,
                    report::plan_page(plan.state().run, tasks::run_record(context, plan.state().settings)));
}

const std::vector<PlanCandidate>& Plan::candidates() const {
  return state_->candidates;
}

const PlanCandidate* Plan::recommended() const {
  const auto best = state_->run.plan.recommended;
  return best ? &state_->candidates[*best] : nullptr;
}

const PlanCandidate* Plan::recommended_on(int processes) const {
  const auto best = state_->run.plan.recommended_on(processes);
  return best ? &state_->candidates[*best] : nullptr;
}

const std::string& Plan::reason() const {
  return state_->run.plan.reason;
}

std::string Plan::summary() const {
  return state_->summary;
}

std::string Plan::json() const {
  auto json = report::plan_json(state_->run);
  json["constants"] = tasks::machine_json(state_->run.options.machine);
  return tasks::json_text(json);
}

}  // namespace polyad
