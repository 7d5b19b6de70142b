#include "cli/plan_completion.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/machine_file.hpp"
#include "cli/option_text.hpp"
#include "cli/partition_cache.hpp"
#include "polyad/algo/sgd_completion.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/dist/distribution.hpp"
#include "polyad/io/partition_file.hpp"
#include "polyad/report/completion_plan_report.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::cli {
namespace {

constexpr Index max_processes = 65535, max_counts = 100;

std::vector<int> parts_of(const RowOwners& owners, Index num_users) {
  std::vector<int> parts(static_cast<std::size_t>(num_users));
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = owners(Index(i));
  return parts;
}

// As `complete` deals users out, which knows the ratings as they stand in the file.
std::vector<UserPartition> partitions(const SparseTensor<double>& x, const std::string& path,
                                      const CompletionPlanArgs& args, const Console& console) {
  std::vector<UserPartition> all;
  const bool is_auto = args.partition == "auto";
  const auto add = [&](const std::string& name, Distribution (Distributor::*make)() const) {
    if (!is_auto && args.partition != name) return;
    all.push_back({name, [&x, make, seed = args.seed](int num_parts) {
                     const Distributor distributor(Comm::self(), x, num_parts, seed);
                     return parts_of((distributor.*make)().rows[0], x.extent(0));
                   }});
  };
  add("random", &Distributor::coarse_random);
  add("block", &Distributor::coarse_block);
  if (all.empty())
    all.push_back({"file", [&x, file = args.partition](int num_parts) {
                     const Index users = x.extent(0);
                     return io::read_partition(file, {0, users, users, num_parts});
                   }});
  if (args.with_hypergraph)
    all.push_back(
        {"hypergraph", [&x, &console, path, seed = args.seed, seconds = args.seconds](int num_parts) {
           auto how = completion_partition_options(num_parts, seed);
           how.hypergraph.most_seconds = seconds;
           auto kept = partition_and_keep(x, path, how);
           if (!kept.notice.empty()) console.warn(kept.notice);
           return std::move(kept.parts);
         }});
  return all;
}

}  // namespace

void plan_for_completion(const Comm& comm, const InputOptions& input, const CompletionPlanArgs& args,
                         Console& console) {
  const auto machine = load_machine(comm);
  CompletionPlanRun run;
  for (const Index count : parse_numbers(args.processes, "--processes", max_processes, max_counts))
    run.options.process_counts.push_back(int(count));
  if (!args.sync.empty())
    for (const Index count : parse_numbers(args.sync, "--sync", max_processes, max_counts))
      run.options.sub_epochs.push_back(int(count));
  Stopwatch watch;
  const auto loaded = load(comm, input, console);
  require_ratings(loaded, input.path);
  run.load_seconds = watch.lap();
  auto ratings = loaded.tensor;
  const Index dropped = keep_last_ratings(ratings);
  if (dropped > 0)
    console.warn(fmt::format("{}: {} repeated by a later line, and dropped", input.path,
                             counted_were(dropped, "rating")));
  CompletionOptions defaults;
  defaults.num_factors = args.num_factors;
  run.input = input.path;
  run.partition_file = args.partition;
  run.options.partitions = partitions(loaded.tensor, input.path, args, console);
  run.options.row = {args.num_factors, travelling_words(defaults).per_row(), sizeof(float)};
  run.options.machine = machine.model;
  run.machine = machine.source;
  run.threads = num_threads();
  run.plan = plan_completion(ratings, run.options, console.progress());
  run.plan_seconds = watch.lap();
  run.peak_memory_bytes = peak_memory_bytes();
  console.say(completion_plan_text(run));
  console.result(completion_plan_json(run));
}

}  // namespace polyad::cli
