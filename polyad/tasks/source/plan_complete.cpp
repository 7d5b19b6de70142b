#include "polyad/tasks/plan_complete.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "polyad/algo/ratings/sgd_completion.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/distributed/cp/distribution.hpp"
#include "polyad/distributed/ratings/random_rows.hpp"
#include "polyad/io/hypergraphs/partition_file.hpp"
#include "polyad/report/html/completion_plan_page.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/complete.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/machine_file.hpp"
#include "polyad/tasks/detail/output/output_files.hpp"
#include "polyad/tasks/detail/partition_cache.hpp"
#include "polyad/tasks/detail/process_counts.hpp"
#include "polyad/tasks/detail/ratings/completion_input.hpp"
#include "polyad/tasks/detail/ratings/prepare_ratings.hpp"
#include "polyad/tasks/detail/settings.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"

namespace polyad {

struct CompletePlan::State {
  report::CompletionPlanRun run;
  std::vector<CompleteCandidate> candidates;
  std::string summary;
  std::vector<Setting> settings;
};

namespace {

using Kind = RatingPartition;

constexpr int max_completion_processes = 65535;

// As `complete` distributes users or items, by the ratings in the order of the file.
class Partitions {
 public:
  Partitions(const Context& context, const SparseTensor<double>& x, const CompletePlanOptions& options)
      : context_(context), x_(x), options_(options) {}

  std::vector<SidePartition> of(RatingSide side) const {
    std::vector<SidePartition> all;
    const bool is_any = !options_.partition;
    if (is_any || options_.partition == Kind::random)
      all.push_back({side, to_string(Kind::random), [this, side](int num_parts) {
                       return random_by_ratings(Comm::self(), x_, mode_of(side), num_parts, options_.seed);
                     }});
    if (is_any || options_.partition == Kind::block)
      all.push_back({side, to_string(Kind::block), [this, side](int num_parts) {
                       const Distributor distributor(Comm::self(), x_, num_parts, options_.seed);
                       return distributor.coarse_block().rows[std::size_t(mode_of(side))];
                     }});
    if (options_.partition == Kind::file) all.push_back(from_file(side));
    if (options_.with_hypergraph) all.push_back(of_hypergraph(side));
    return all;
  }

 private:
  // For the smallest number of processes that is at least that of its parts.
  SidePartition from_file(RatingSide side) const {
    const auto& path = options_.partition_file;
    const Index count = x_.extent(mode_of(side));
    io::PartitionLines lines{0, count, count, std::numeric_limits<int>::max()};
    lines.thing = to_string(side);
    auto parts = io::read_partition(path, lines);
    const int last = parts.empty() ? 0 : std::ranges::max(parts);
    const auto counts = tasks::ascending(options_.processes);
    const auto processes = std::ranges::upper_bound(counts, last);
    if (processes == counts.end())
      throw Error(Errc::bad_input,
                  fmt::format("has {} parts, more than all given numbers of processes", Index(last) + 1),
                  {path.string(), 0});
    if (counts.size() > 1)
      context_.warn(fmt::format("{}: has {}, and is planned for {} {} only", path.string(),
                                report::counted(Index(last) + 1, "part"), *processes,
                                *processes == 1 ? "process" : "processes"));
    return {side, to_string(Kind::file),
            [parts = std::move(parts)](int) {
              return ListedRows{{}, parts};
            },
            *processes};
  }

  SidePartition of_hypergraph(RatingSide side) const {
    return {side, to_string(Kind::hypergraph), [this, side](int num_parts) {
              auto how = tasks::completion_partition_options(side, num_parts, options_.seed);
              how.hypergraph.time_limit_seconds = options_.time_limit_seconds;
              auto kept = tasks::partition_and_keep(x_, options_.cache.string(), how);
              if (!kept.notice.empty()) context_.warn(kept.notice);
              return ListedRows{{}, std::move(kept.parts)};
            }};
  }

  const Context& context_;
  const SparseTensor<double>& x_;
  const CompletePlanOptions& options_;
};

// A file has one part per user, unless items are distributed.
std::vector<RatingSide> sides_of(const CompletePlanOptions& options) {
  if (options.by == DistributedSide::items) return {RatingSide::item};
  if (options.by == DistributedSide::users || options.partition == Kind::file) return {RatingSide::user};
  return {RatingSide::user, RatingSide::item};
}

SparseTensor<double> without_repeated(const Context& context, const Tensor& x) {
  auto ratings = x.tensor;
  const Index dropped = keep_last_ratings(ratings);
  if (dropped > 0)
    context.warn(fmt::format("{}{}{} repeated by a later line, and dropped", x.path,
                             x.path.empty() ? "" : ": ", report::counted_were(dropped, "rating")));
  return ratings;
}

CompleteCandidate candidate_of(const PlannedCompletion& way, Index words_per_row) {
  CompleteCandidate candidate;
  candidate.processes = way.processes;
  candidate.by = way.by == RatingSide::user ? DistributedSide::users : DistributedSide::items;
  for (const auto kind : {Kind::random, Kind::block, Kind::hypergraph, Kind::file})
    if (way.partition == to_string(kind)) candidate.partition = kind;
  candidate.sync = way.num_sub_epochs;
  candidate.is_automatic = way.is_automatic;
  candidate.seconds_per_epoch = way.costs.predicted_seconds;
  candidate.progress = way.costs.progress;
  candidate.staleness_words = way.costs.staleness_rows * words_per_row;
  candidate.volume_words = way.costs.volume_rows * words_per_row;
  candidate.max_volume_words = way.costs.max_volume_rows * words_per_row;
  candidate.messages = way.costs.messages;
  candidate.max_messages = way.costs.max_messages;
  candidate.imbalance = way.imbalance;
  candidate.partition_seconds = way.partition_seconds;
  return candidate;
}

CompletionPlanOptions plan_options(const CompletePlanOptions& asked_for, const MachineModel& machine) {
  CompletionOptions training;
  training.num_factors = asked_for.factors;
  training.has_biases = !asked_for.no_bias;
  training.step.kind = asked_for.schedule;
  CompletionPlanOptions options;
  options.process_counts = tasks::ascending(asked_for.processes);
  options.sub_epochs = tasks::ascending(asked_for.sync);
  options.row = {asked_for.factors, travelling_words(training).per_row(), sizeof(float)};
  options.machine = machine;
  return options;
}

void check_held_out(const TestRatings& test) {
  const bool is_held_out = test.kind == TestRatings::Kind::none || test.kind == TestRatings::Kind::fraction ||
                           test.kind == TestRatings::Kind::leave_one_out;
  if (!is_held_out)
    tasks::refuse_option(
        fmt::format("{}: expected a fraction of the ratings, as in 0.1, or leave-one-out; "
                    "other ratings to test on change nothing in a plan",
                    option_name("test")));
  CompleteOptions options;
  options.test = test;
  validate(options);
}

// The options of training that are not those of a run without options.
std::vector<std::string> training_arguments(const CompletePlanOptions& options) {
  std::vector<std::string> all;
  if (options.no_bias) all.emplace_back("--no-bias");
  if (options.schedule != CompletePlanOptions{}.schedule)
    all.insert(all.end(), {"--schedule", to_string(options.schedule)});
  if (options.test.kind != TestRatings::Kind::none)
    all.insert(all.end(), {"--test", tasks::name_of(options.test)});
  return all;
}

}  // namespace

void validate(const CompletePlanOptions& options) {
  if (options.factors < 1 || options.factors > max_factors)
    tasks::refuse_option(fmt::format("{} {}: expected a number from 1 to {}", option_name("factors"),
                                     options.factors, max_factors));
  tasks::require_enumerator("by", options.by, DistributedSide::items);
  if (options.partition) tasks::require_enumerator("partition", *options.partition, Kind::file);
  tasks::check_counts("processes", options.processes, max_completion_processes);
  if (!options.sync.empty()) {
    tasks::check_counts("sync", options.sync, max_completion_processes);
    const int fewest = std::ranges::min(options.processes), most = std::ranges::max(options.sync);
    if (most > fewest)
      tasks::refuse_option(fmt::format("{} {}: expected numbers from 1 to that of processes, {}",
                                       option_name("sync"), most, fewest));
  }
  tasks::require_enumerator("schedule", options.schedule, StepSchedule::Kind::adagrad);
  check_held_out(options.test);
  if (!(options.time_limit_seconds > 0))
    tasks::refuse_option(fmt::format("{} {}: expected a positive number of seconds",
                                     option_name("time_limit_seconds"), options.time_limit_seconds));
  if (!options.cache.empty() && !options.with_hypergraph)
    tasks::refuse_option(fmt::format("{} requires {}", option_name("cache"), option_name("with_hypergraph")));
  if (options.partition == Kind::hypergraph)
    tasks::refuse_option(fmt::format("{} hypergraph is not for plans: use {}", option_name("partition"),
                                     option_name("with_hypergraph")));
  tasks::require_partition_file(options.partition == Kind::file, options.partition_file);
}

CompletePlan plan_complete(const Context& context, const Tensor& ratings,
                           const CompletePlanOptions& options) {
  const tasks::TaskScope scope(context);
  tasks::require_one_process(context, "plan_complete");
  validate(options);
  const auto machine = tasks::load_machine(context.comm());
  tasks::require_ratings(ratings, {sizeof(int), 1});  // an owner for each
  auto state = std::make_shared<CompletePlan::State>();
  state->settings = tasks::settings_of(options, ratings);
  auto& run = state->run;
  Stopwatch watch;
  auto distinct =
      split_ratings(without_repeated(context, ratings), tasks::split_of(options.test, options.seed)).train;
  run.load_seconds = ratings.load_seconds;
  run.input = ratings.path;
  run.input_files = ratings.files.empty() ? std::vector{ratings.path} : ratings.files;
  run.input_options = options.input_arguments;
  run.training_options = training_arguments(options);
  run.partition_file = options.partition_file.string();
  run.seed = options.seed;
  run.machine = machine.source;
  run.threads = num_threads();
  run.options = plan_options(options, machine.model);
  const Partitions partitions(context, ratings.tensor, options);
  for (const auto side : sides_of(options))
    for (auto& partition : partitions.of(side)) run.options.partitions.push_back(std::move(partition));
  run.plan = plan_completion(std::move(distinct), run.options, context.progress());
  run.options.partitions.clear();  // they refer to the ratings
  run.plan_seconds = watch.lap();
  run.peak_memory_bytes = peak_memory_bytes();
  for (const auto& way : run.plan.ways)
    state->candidates.push_back(candidate_of(way, run.options.row.num_words));
  state->summary = context.shown(report::completion_plan_text(run));
  return CompletePlan(std::move(state));
}

void save_report(const Context& context, const CompletePlan& plan, const std::filesystem::path& path) {
  tasks::write_text(path, report::completion_plan_page(plan.state().run,
                                                       tasks::run_record(context, plan.state().settings)));
}

const std::vector<CompleteCandidate>& CompletePlan::candidates() const {
  return state_->candidates;
}

const CompleteCandidate* CompletePlan::recommended() const {
  const auto best = state_->run.plan.recommended;
  return best ? &state_->candidates[*best] : nullptr;
}

std::string CompletePlan::summary() const {
  return state_->summary;
}

std::string CompletePlan::json() const {
  return tasks::json_text(report::completion_plan_json(state_->run));
}

}  // namespace polyad
