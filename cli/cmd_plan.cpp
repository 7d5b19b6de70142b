#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/distribution.hpp"
#include "cli/input.hpp"
#include "cli/option_text.hpp"
#include "cli/output.hpp"
#include "cli/plan_completion.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/hypergraph/partitioner.hpp"
#include "polyad/report/html/plan_page.hpp"
#include "polyad/report/plan_report.hpp"
#include "polyad/tasks/detail/decide_distribution.hpp"
#include "polyad/tasks/detail/machine_file.hpp"
#include "polyad/tasks/detail/output_files.hpp"
#include "polyad/tasks/detail/stored_partition.hpp"
#include "polyad/version.hpp"

namespace polyad::cli {
namespace {

struct Args {
  CommonOptions common;
  InputOptions input;
  DistributionArgs distribution;
  std::string processes, memory, page;
  Index num_components = 16;
  std::uint64_t seed = 1;
  bool with_hypergraph = false;
  double seconds = 60;
  std::string purpose = "cpd", sync, by = "auto";
};

constexpr Index max_processes = 1 << 20, max_counts = 100;

FilePlan file_plan(const Args& args) {
  auto plan = plan_input(args.input);
  plan.reads("the file that --partition names", partition_file(args.distribution));
  plan.reads("the constants of this machine", tasks::machine_file());
  plan_cache(plan, args.distribution.cache);
  return plan.writes("--report", args.page);
}

// Partitions that are made or read, not counted out.
FurtherStrategies further_strategies(const Args& args, const SparseTensor<double>& x,
                                     const StrategyPlanOptions& options, std::vector<std::string>& notices) {
  std::vector<FurtherStrategies> all;
  if (!partition_file(args.distribution).empty())
    all.push_back(tasks::partition_from_file(options.distribution, x, options.process_counts));
  if (args.with_hypergraph)
    all.push_back(tasks::partitions_of_hypergraphs(x, options.distribution, args.seconds, notices));
  return [all](const Distributor& distributor) {
    std::vector<Strategy> found;
    for (const auto& some : all)
      for (auto& strategy : some(distributor)) found.push_back(std::move(strategy));
    return found;
  };
}

void check_hypergraph(const StrategyPlanOptions& options) {
  if (options.distribution.scheme == Scheme::medium)
    throw Error(Errc::bad_option,
                "--with-hypergraph is for fine and coarse grain, and only medium grain was asked for");
  if (const int most = options.process_counts.back(); most > max_parts)
    throw Error(Errc::bad_option,
                fmt::format("--with-hypergraph is for up to {} processes, not for {}", max_parts, most));
}

StrategyPlanOptions plan_options(const Args& args, const SparseTensor<double>& x, const MachineModel& machine,
                                 std::vector<std::string>& notices) {
  StrategyPlanOptions options;
  for (const Index count : parse_numbers(args.processes, "--processes", max_processes, max_counts))
    options.process_counts.push_back(int(count));
  options.num_components = args.num_components;
  options.distribution = tasks::checked(parse_distribution(args.distribution, args.seed, x.order()));
  if (options.distribution.partition == DistributionOptions::Partition::file)  // is one strategy among others
    options.distribution.partition = DistributionOptions::Partition::any;
  if (!args.memory.empty()) options.max_bytes = parse_bytes(args.memory, "--memory");
  options.machine = machine;
  const auto& grid = options.distribution.grid;
  for (const int count : options.process_counts)
    if (grid && grid->size() != count)
      throw Error(Errc::bad_option, fmt::format("the grid {} is for {} processes, not for {}",
                                                to_string(*grid), grid->size(), count));
  if (args.with_hypergraph) check_hypergraph(options);
  options.further = further_strategies(args, x, options, notices);
  return options;
}

// No option is ignored: what has no meaning for ratings is an error.
CompletionPlanArgs completion_args(const Args& args) {
  const DistributionArgs none;
  const auto& given = args.distribution;
  if (given.scheme != none.scheme || given.grid != none.grid || given.policy != none.policy ||
      given.policy_c != none.policy_c || given.row_owners != none.row_owners ||
      given.replicate != none.replicate || given.num_free_primes != none.num_free_primes)
    throw Error(Errc::bad_option,
                "--for complete deals out users or items: of the options of distributions it has --partition "
                "only");
  if (!args.memory.empty()) throw Error(Errc::bad_option, "--memory goes with --for cpd");
  if (given.partition == "hypergraph")
    throw Error(Errc::bad_option, "plan has --with-hypergraph in place of --partition hypergraph");
  return {args.processes,       args.sync,    args.by,   given.partition, args.num_components, args.seed,
          args.with_hypergraph, args.seconds, args.page, given.cache};
}

void run(const Comm& comm, const Args& args) {
  require_one_process(comm, "plan");
  if (!args.distribution.cache.empty() && !args.with_hypergraph)
    throw Error(Errc::bad_option, "--cache goes with --with-hypergraph");
  Console console(comm, args.common, collectively(comm, [&] { return file_plan(args); }));
  if (args.purpose == "complete")
    return plan_for_completion(comm, args.input, completion_args(args), console);
  if (!args.sync.empty() || args.by != "auto")
    throw Error(Errc::bad_option, "--sync and --by go with --for complete");
  if (args.distribution.partition == "hypergraph")
    throw Error(Errc::bad_option, "plan has --with-hypergraph in place of --partition hypergraph");
  const auto machine = tasks::load_machine(comm);
  Stopwatch watch;
  const auto loaded = load(args.input, console);
  PlanRun run;
  run.load_seconds = watch.lap();
  run.input = args.input.path;
  run.input_options = given_options(args.input);
  run.partition = partition_file(args.distribution);
  run.dims = loaded.tensor.extents();
  run.machine = machine.source;
  run.threads = num_threads();
  std::vector<std::string> notices;
  run.options = plan_options(args, loaded.tensor, machine.model, notices);
  run.plan = plan_strategies(loaded.tensor, run.options, console.progress());
  run.peak_memory_bytes = peak_memory_bytes();
  for (const auto& notice : notices) console.warn(notice);
  warn_of_duplicates(console, args.input, run.plan.num_duplicates);
  console.say(plan_text(run));
  if (!args.page.empty()) {
    tasks::write_text(args.page, plan_page(run, "polyad " POLYAD_VERSION));
    console.say(args.page + ": a page to look at");
  }
  auto json = plan_json(run);
  json["constants"] = tasks::machine_json(machine.model);
  console.result(json);
}

}  // namespace

void add_plan(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<Args>();
  auto* command = app.add_subcommand(
      "plan", "Every way to distribute a tensor over processes, side by side, without running any");
  command->add_option("-k,--processes", args->processes, "Numbers of processes, as in 4,16,64 or 1-8")
      ->required();
  command->add_option("-r,--rank", args->num_components, "Number of components")
      ->capture_default_str()
      ->check(in_range(1, 100000));
  command->add_option("--for", args->purpose, "What is planned: cpd of a tensor, or complete of ratings")
      ->capture_default_str()
      ->check(CLI::IsMember({"cpd", "complete"}));
  command->add_option("--sync", args->sync, "With --for complete: numbers of sub-epochs, as in 1,4,32");
  command
      ->add_option("--by", args->by, "With --for complete: who is dealt out to processes; auto looks at both")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "users", "items"}));
  command->add_option("--seed", args->seed, "Seed of random partitions")
      ->capture_default_str()
      ->check(fault_of_seed);
  auto* hypergraph = command->add_flag("--with-hypergraph", args->with_hypergraph,
                                       "Also partitions of the hypergraph, which take time to make");
  command->add_option("--time", args->seconds, "Seconds for each of these")
      ->capture_default_str()
      ->check(fault_of_real)
      ->check(CLI::PositiveNumber)
      ->needs(hypergraph);
  command
      ->add_option("--memory", args->memory,
                   "Memory of each process, as in 800MB; what would not fit is not recommended")
      ->check(fault_of_memory);
  command->add_option("--report", args->page, "Write a page to look at: one HTML file, no network needed");
  add_distribution_options(*command, args->distribution);
  add_input_options(*command, args->input);
  add_common_options(*command, args->common);
  command->footer("Example: polyad plan data/debian.tns.gz -k 4,16,64 -r 8 --report plan.html");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
