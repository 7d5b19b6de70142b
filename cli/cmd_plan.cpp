#include <memory>
#include <utility>

#include "cli/commands.hpp"
#include "cli/distribution.hpp"
#include "cli/input.hpp"
#include "cli/option_text.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/polyad.hpp"

namespace polyad::cli {
namespace {

struct PlanArgs {
  CommonOptions common;
  InputOptions input;
  DistributionTexts distribution;
  std::string processes, memory, page;
  Index num_components = 16;
  int threads_per_process = 1, processes_per_machine = 0;
  std::uint64_t seed = 1;
  bool with_hypergraph = false;
  double seconds = 60;
  std::string purpose = "cpd", sync, by = "auto", schedule = "adagrad", test;
  bool no_bias = false;
};

constexpr int max_threads_per_process = 1 << 16;
constexpr Index max_processes = 1 << 20, max_processes_of_ratings = 65535, max_counts = 100;

FilePlan file_plan(const PlanArgs& args) {
  auto plan = plan_input(args.input);
  plan.reads_in_place_of("--partition", partition_file(args.distribution), partition_words());
  plan.reads_in_place_of("--row-owners", row_owners_file(args.distribution), row_owners_words());
  plan.reads_machine_constants().reads_cached_partitions(args.distribution.cache);
  return plan.writes("--report", args.page);
}

std::vector<int> counts(const std::string& text, const std::string& option, Index largest) {
  const auto numbers = parse_numbers(text, option, largest, max_counts);
  return {numbers.begin(), numbers.end()};
}

// For a tensor with so many modes; with 0, all options that do not depend on them.
PlanOptions plan_options(const PlanArgs& args, int order) {
  PlanOptions options;
  options.rank = args.num_components;
  options.processes = counts(args.processes, "--processes", max_processes);
  options.threads_per_process = args.threads_per_process;
  options.processes_per_machine = args.processes_per_machine;
  if (order > 0) options.distribution = parse_distribution(args.distribution, args.seed, order);
  options.distribution.partition = parse_partition(args.distribution);
  options.distribution.partition_file = partition_file(args.distribution);
  options.distribution.cache = args.distribution.cache;
  options.with_hypergraph = args.with_hypergraph;
  options.time_limit_seconds = args.seconds;
  if (!args.memory.empty()) options.max_memory_bytes = parse_bytes(args.memory, "--memory");
  options.input_arguments = given_options(args.input);
  validate(options);
  return options;
}

CompletePlanOptions complete_options(const PlanArgs& args) {
  CompletePlanOptions options;
  options.factors = args.num_components;
  options.no_bias = args.no_bias;
  options.schedule = named(args.schedule, all_step_schedules());
  options.test = parse_test_split(args.test);
  options.processes = counts(args.processes, "--processes", max_processes_of_ratings);
  if (!args.sync.empty()) options.sync = counts(args.sync, "--sync", max_processes_of_ratings);
  options.by = parse_distributed_side(args.by);
  options.partition_file = partition_file(args.distribution);
  if (args.distribution.partition != "auto")
    options.partition = parse_rating_partition(args.distribution.partition);
  options.with_hypergraph = args.with_hypergraph;
  options.time_limit_seconds = args.seconds;
  options.cache = args.distribution.cache;
  options.seed = args.seed;
  options.input_arguments = given_options(args.input);
  validate(options);
  return options;
}

// No option is ignored: what has no meaning for ratings is an error.
void check_for_ratings(const PlanArgs& args) {
  const auto given = args.distribution;
  DistributionTexts none;
  none.partition = given.partition;
  none.cache = given.cache;
  if (given != none)
    throw Error(Errc::bad_option,
                "--for complete distributes users or items: of the options of distributions only --partition "
                "applies");
  if (!args.memory.empty()) throw Error(Errc::bad_option, "--memory requires --for cpd");
  if (args.threads_per_process != 1)
    throw Error(Errc::bad_option, "--threads-per-process requires --for cpd");
  if (args.processes_per_machine != 0) throw Error(Errc::bad_option, "--per-machine requires --for cpd");
}

void show(const PlanArgs& args, const auto& plan, const Console& console) {
  console.say(plan.summary());
  if (!args.page.empty()) {
    save_report(console.context(), plan, args.page);
    console.say("wrote report to " + args.page);
  }
  console.result(plan.json());
}

void run(const Comm& comm, const PlanArgs& args) {
  require_one_process(comm, "plan");
  const bool is_of_ratings = args.purpose == "complete";
  if (is_of_ratings) check_for_ratings(args);
  const bool is_of_training = args.no_bias || args.schedule != "adagrad" || !args.test.empty();
  if (!is_of_ratings && (!args.sync.empty() || args.by != "auto" || is_of_training))
    throw Error(Errc::bad_option, "--sync, --by, --no-bias, --schedule and --test require --for complete");
  is_of_ratings ? void(complete_options(args)) : void(plan_options(args, 0));
  Console console(comm, args.common, collectively(comm, [&] { return file_plan(args); }));
  const auto& context = console.context();
  const auto x = load(args.input, console);
  if (is_of_ratings)
    show(args, plan_complete(context, x, complete_options(args)), console);
  else
    show(args, plan(context, x, plan_options(args, x.tensor.order())), console);
}

}  // namespace

void add_plan(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<PlanArgs>();
  auto* command = app.add_subcommand(
      "plan", "Compare the ways to distribute a tensor over processes, without running any of them");
  command->add_option("-k,--processes", args->processes, "Numbers of processes, as in 4,16,64 or 1-8")
      ->required();
  command
      ->add_option("--threads-per-process", args->threads_per_process,
                   "Threads of each process, for predicted times and memory")
      ->capture_default_str()
      ->check(in_range<int>(1, max_threads_per_process));
  command
      ->add_option("--per-machine", args->processes_per_machine,
                   "Processes on each machine of the cluster: rows that are exchanged in stages (--exchange "
                   "routed) first go to processes of the same machine (default: all on one machine)")
      ->check(in_range<int>(1, int(max_processes)));
  command->add_option("-r,--rank", args->num_components, "Number of components")
      ->capture_default_str()
      ->check(in_range<Index>(1, max_rank));
  command
      ->add_option("--for", args->purpose,
                   "What to plan: cpd (decomposition of a tensor) or complete (completion of ratings)")
      ->capture_default_str()
      ->check(CLI::IsMember({"cpd", "complete"}));
  command->add_option("--sync", args->sync,
                      "With --for complete: numbers of sub-epochs, as in 1,4,32 (default: several)");
  command
      ->add_option("--by", args->by,
                   "With --for complete: what is distributed over the processes; auto compares both")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "users", "items"}));
  command->add_flag("--no-bias", args->no_bias, "With --for complete: as in complete");
  command->add_option("--schedule", args->schedule, "With --for complete: as in complete")
      ->capture_default_str()
      ->check(CLI::IsMember(names_of(all_step_schedules())));
  command->add_option("--test", args->test,
                      "With --for complete: ratings that will be held out, as in 0.1, or leave-one-out");
  add_seed_option(*command, args->seed, "Seed of random partitions");
  auto* hypergraph =
      command->add_flag("--with-hypergraph", args->with_hypergraph,
                        "Also compare partitions of the tensor's hypergraph, which take time to make");
  command->add_option("--time", args->seconds, "Time limit in seconds for each of these partitions")
      ->capture_default_str()
      ->check(fault_of_real)
      ->check(above_zero())
      ->needs(hypergraph);
  add_memory_option(*command, args->memory,
                    "Memory limit of each process, as in 800MB (default none); candidates that need more are "
                    "not recommended");
  command->add_option("--report", args->page, "Write an HTML report");
  add_distribution_options(*command, args->distribution);
  add_input_options(*command, args->input);
  add_common_options(*command, args->common);
  command->footer("Example: polyad plan data/debian.tns.gz -k 4,16,64 -r 8 --report plan.html");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
