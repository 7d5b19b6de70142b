#include "cli/plan_completion.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/option_text.hpp"
#include "cli/output.hpp"
#include "polyad/algo/sgd_completion.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/distributed/cp/distribution.hpp"
#include "polyad/io/hypergraphs/partition_file.hpp"
#include "polyad/report/html/completion_plan_page.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/completion_input.hpp"
#include "polyad/tasks/detail/machine_file.hpp"
#include "polyad/tasks/detail/output_files.hpp"
#include "polyad/tasks/detail/partition_cache.hpp"
#include "polyad/version.hpp"

namespace polyad::cli {
namespace {

constexpr Index max_processes = 65535, max_counts = 100;

// As `complete` deals users or items out, which knows the ratings as they stand in the file.
class Partitions {
 public:
  Partitions(const SparseTensor<double>& x, const CompletionPlanArgs& args, const Console& console)
      : x_(x), args_(args), console_(console) {}

  std::vector<SidePartition> of(RatingSide side) const {
    std::vector<SidePartition> all;
    const bool is_any = args_.partition == "auto";
    if (is_any || args_.partition == "random")
      all.push_back(dealt(side, "random", &Distributor::coarse_random));
    if (is_any || args_.partition == "block") all.push_back(dealt(side, "block", &Distributor::coarse_block));
    if (all.empty()) all.push_back(from_file(side));
    if (args_.with_hypergraph) all.push_back(of_hypergraph(side));
    return all;
  }

 private:
  SidePartition dealt(RatingSide side, const std::string& name,
                      Distribution (Distributor::*make)() const) const {
    return {side, name, [this, side, make](int num_parts) {
              const Distributor distributor(Comm::self(), x_, num_parts, args_.seed);
              return (distributor.*make)().rows[std::size_t(mode_of(side))];
            }};
  }

  SidePartition from_file(RatingSide side) const {
    return {side, "file", [this, side](int num_parts) {
              const Index count = x_.extent(mode_of(side));
              return ListedRows{{}, io::read_partition(args_.partition, {0, count, count, num_parts})};
            }};
  }

  SidePartition of_hypergraph(RatingSide side) const {
    return {side, "hypergraph", [this, side](int num_parts) {
              auto how = tasks::completion_partition_options(side, num_parts, args_.seed);
              how.hypergraph.time_limit_seconds = args_.seconds;
              auto kept = tasks::partition_and_keep(x_, args_.cache, how);
              if (!kept.notice.empty()) console_.warn(kept.notice);
              return ListedRows{{}, std::move(kept.parts)};
            }};
  }

  const SparseTensor<double>& x_;
  const CompletionPlanArgs& args_;
  const Console& console_;
};

// A file has a part per user, unless items are asked for.
std::vector<RatingSide> sides_of(const CompletionPlanArgs& args) {
  if (args.by == "items") return {RatingSide::item};
  const bool is_file = args.partition != "auto" && args.partition != "random" && args.partition != "block";
  if (args.by == "users" || is_file) return {RatingSide::user};
  return {RatingSide::user, RatingSide::item};
}

}  // namespace

void plan_for_completion(const Comm& comm, const InputOptions& input, const CompletionPlanArgs& args,
                         Console& console) {
  const auto machine = tasks::load_machine(comm);
  CompletionPlanRun run;
  for (const Index count : parse_numbers(args.processes, "--processes", max_processes, max_counts))
    run.options.process_counts.push_back(int(count));
  if (!args.sync.empty())
    for (const Index count : parse_numbers(args.sync, "--sync", max_processes, max_counts))
      run.options.sub_epochs.push_back(int(count));
  Stopwatch watch;
  const auto loaded = load(input, console);
  tasks::require_ratings(loaded, {sizeof(int), 1});  // an owner for each
  run.load_seconds = watch.lap();
  auto ratings = loaded.tensor;
  const Index dropped = keep_last_ratings(ratings);
  if (dropped > 0)
    console.warn(fmt::format("{}: {} repeated by a later line, and dropped", input.path,
                             counted_were(dropped, "rating")));
  CompletionOptions defaults;
  defaults.num_factors = args.num_factors;
  run.input = input.path;
  run.input_options = given_options(input);
  run.partition_file = args.partition;
  run.seed = args.seed;
  const Partitions partitions(loaded.tensor, args, console);
  for (const auto side : sides_of(args))
    for (auto& partition : partitions.of(side)) run.options.partitions.push_back(std::move(partition));
  run.options.row = {args.num_factors, travelling_words(defaults).per_row(), sizeof(float)};
  run.options.machine = machine.model;
  run.machine = machine.source;
  run.threads = num_threads();
  run.plan = plan_completion(std::move(ratings), run.options, console.progress());
  run.plan_seconds = watch.lap();
  run.peak_memory_bytes = peak_memory_bytes();
  console.say(completion_plan_text(run));
  if (!args.page.empty()) {
    tasks::write_text(args.page, completion_plan_page(run, "polyad " POLYAD_VERSION));
    console.say(args.page + ": a page to look at");
  }
  console.result(completion_plan_json(run));
}

}  // namespace polyad::cli
