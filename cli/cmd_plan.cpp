#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/distribution.hpp"
#include "cli/input.hpp"
#include "cli/machine_file.hpp"
#include "cli/option_text.hpp"
#include "cli/output.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/report/plan_page.hpp"
#include "polyad/report/plan_report.hpp"

namespace polyad::cli {
namespace {

struct Args {
  CommonOptions common;
  InputOptions input;
  DistributionArgs distribution;
  std::string processes, memory, page;
  Index num_components = 16;
  std::uint64_t seed = 1;
};

constexpr Index max_processes = 1 << 20, max_counts = 100;

void check_places(const Args& args) {
  using Type = std::filesystem::file_type;
  if (!args.page.empty()) check_place(args.page, Type::regular);
  const auto& json = args.common.json;
  if (!json.empty() && json != "-") check_place(json, Type::regular);
  const auto partition = names_file(args.distribution) ? args.distribution.partition : "";
  check_distinct({args.input.path, partition, args.page, json == "-" ? "" : json});
}

StrategyPlanOptions plan_options(const Args& args, const SparseTensor<double>& x,
                                 const MachineModel& machine) {
  StrategyPlanOptions options;
  for (const Index count : parse_numbers(args.processes, "--processes", max_processes, max_counts))
    options.process_counts.push_back(int(count));
  options.num_components = args.num_components;
  options.distribution = parse_distribution(args.distribution, args.seed, x.order());
  if (!args.memory.empty()) options.max_bytes = parse_bytes(args.memory, "--memory");
  options.machine = machine;
  const auto& grid = options.distribution.grid;
  for (const int count : options.process_counts)
    if (grid && grid->size() != count)
      throw Error(Errc::bad_option, fmt::format("the grid {} is for {} processes, not for {}",
                                                to_string(*grid), grid->size(), count));
  if (names_file(args.distribution))
    options.further =
        partition_from_file(args.distribution, x, options.process_counts, options.distribution.row_rule);
  return options;
}

void run(const Comm& comm, const Args& args) {
  Console console(comm, args.common);
  require_one_process(comm, "plan");
  check_places(args);
  const auto machine = load_machine(comm);
  Stopwatch watch;
  const auto loaded = load(comm, args.input, console);
  PlanRun run;
  run.load_seconds = watch.lap();
  run.input = args.input.path;
  if (names_file(args.distribution)) run.partition = args.distribution.partition;
  run.dims = loaded.tensor.extents();
  run.machine = machine.source;
  run.threads = num_threads();
  run.options = plan_options(args, loaded.tensor, machine.model);
  run.plan = plan_strategies(loaded.tensor, run.options, console.progress());
  run.peak_memory_bytes = peak_memory_bytes();
  warn_of_duplicates(console, args.input, run.plan.num_duplicates);
  console.say(plan_text(run));
  if (!args.page.empty()) {
    write_text(args.page, plan_page(run, "polyad " POLYAD_VERSION));
    console.say(args.page + ": a page to look at");
  }
  auto json = plan_json(run);
  json["constants"] = machine_json(machine.model);
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
      ->check(CLI::Range(1, 100000));
  command->add_option("--seed", args->seed, "Seed of random partitions")->capture_default_str();
  command->add_option("--memory", args->memory,
                      "Memory of each process, as in 800MB; what would not fit is not recommended");
  command->add_option("--report", args->page, "Write a page to look at: one HTML file, no network needed");
  add_distribution_options(*command, args->distribution);
  add_input_options(*command, args->input);
  add_common_options(*command, args->common);
  command->footer("Example: polyad plan data/debian.tns.gz -k 4,16,64 -r 8 --report plan.html");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
