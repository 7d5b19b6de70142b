#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/option_text.hpp"
#include "cli/output.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/report/rank_report.hpp"
#include "polyad/tasks/detail/memory_use.hpp"

namespace polyad::cli {
namespace {

struct Args {
  CommonOptions common;
  InputOptions input;
  ComponentSweepOptions sweep;
  std::string components, precision = "double", memory, nonneg = "none";
};

constexpr Index max_components = 100000, max_counts = 1000;

template <class Real>
void run_with(const Comm& comm, const Args& args) {
  require_one_process(comm, "rank");
  Console console(comm, args.common, plan_input(args.input));
  RankRun run;
  run.options = args.sweep;
  auto& options = run.options;
  if (!args.components.empty())
    options.component_counts = parse_numbers(args.components, "--components", max_components, max_counts);
  if (!args.memory.empty()) options.decompose.max_bytes = parse_bytes(args.memory, "--memory");

  Stopwatch watch;
  auto loaded = load(args.input, console);
  run.load_seconds = watch.lap();
  options.decompose.read_bytes = tasks::bytes_of_reading();
  options.decompose.extra_bytes = tasks::bytes_beside(loaded);
  if (args.components.empty()) options.component_counts = usual_component_counts(loaded.tensor.extents());
  options.decompose.als.nonnegative = parse_nonneg(args.nonneg, loaded.tensor.order());
  console.say(rank_table_head());
  run.result =
      sweep_components<Real>(comm, std::move(loaded.tensor), options, console.progress(),
                             [&](const CountEvidence& evidence) { console.say(rank_table_line(evidence)); });
  warn_of_duplicates(console, args.input, run.result.num_duplicates);
  run.precision = args.precision;
  run.processes = comm.size();
  run.threads = num_threads();
  run.peak_memory_bytes = peak_memory_bytes();
  tasks::warn_of_memory(console.context(), run.peak_memory_bytes, options.decompose.max_bytes);
  console.say(rank_text(run));
  console.result(rank_json(run));
}

void run(const Comm& comm, const Args& args) {
  if (args.precision == "single")
    run_with<float>(comm, args);
  else
    run_with<double>(comm, args);
}

}  // namespace

void add_rank(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<Args>();
  auto* command = app.add_subcommand("rank", "How many components? Tries several numbers and recommends one");
  auto& als = args->sweep.decompose.als;
  command->add_option("--components", args->components, "Numbers to try, as in 1-8 or 1,2,4,8 (else 1-8)");
  command->add_option("--starts", args->sweep.num_starts, "Random starts for each number")
      ->capture_default_str()
      ->check(in_range(1, 1000));
  command
      ->add_option("--holdout", args->sweep.held_out, "Fraction of the nonzeros to predict unseen (0: none)")
      ->capture_default_str()
      ->check(fault_of_real)
      ->check(in_range(0.0, 0.5));
  command->add_option("-i,--iters", als.max_iterations, "Iteration limit of each decomposition")
      ->capture_default_str()
      ->check(in_range(1, std::numeric_limits<int>::max()));
  command->add_option("--tol", als.tolerance, "Stop when the fit moves by less (0: never)")
      ->capture_default_str()
      ->check(fault_of_real)
      ->check(in_range(0.0, 1.0));
  command->add_option("--seed", als.seed, "Seed of the first start; the next have the next")
      ->capture_default_str()
      ->check(fault_of_seed);
  // A flag takes a value after = only: so it cannot take the name of the input for one.
  command->add_flag("--nonneg{all}", args->nonneg,
                    "No negative entries: in all modes, or --nonneg=1,3 in these");
  auto formats = format_names();
  formats.insert(formats.begin(), "auto");
  command->add_option("--format", args->sweep.decompose.format, "How the nonzeros are held in memory")
      ->capture_default_str()
      ->check(CLI::IsMember(formats));
  command->add_option("--precision", args->precision, "Of values and factors")
      ->capture_default_str()
      ->check(CLI::IsMember({"double", "single"}));
  command
      ->add_option("--memory", args->memory,
                   "Memory that may be used, as in 800MB; refuse what would not fit")
      ->check(fault_of_memory);
  add_input_options(*command, args->input);
  add_common_options(*command, args->common);
  command->footer("Example: polyad rank data/debian.tns.gz --components 1-6");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
