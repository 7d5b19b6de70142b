#include <limits>
#include <memory>
#include <utility>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/option_text.hpp"
#include "polyad/polyad.hpp"

namespace polyad::cli {
namespace {

struct RankArgs {
  CommonOptions common;
  InputOptions input;
  RankOptions rank;
  std::string components, precision = "double", format = "auto", memory, nonneg = "none", init = "auto";
};

constexpr Index max_rank_counts = 1000;

// Those that do not depend on the tensor.
RankOptions fixed_options(const RankArgs& args) {
  auto options = args.rank;
  if (!args.components.empty())
    options.ranks = parse_numbers(args.components, "--components", max_rank, max_rank_counts);
  if (!args.memory.empty()) options.max_memory_bytes = parse_bytes(args.memory, "--memory");
  options.precision = args.precision == "single" ? Precision::float32 : Precision::float64;
  options.start = named(args.init, all_starts());
  options.format = named(args.format, all_storage_formats());
  validate(options);
  return options;
}

void run(const Comm& comm, const RankArgs& args) {
  check_nonneg(args.input, args.nonneg);
  Console console(comm, args.common, plan_input(args.input).reads_machine_constants());
  auto options = fixed_options(args);
  auto x = load(args.input, console);
  const auto nonnegative = parse_nonneg(args.nonneg, x.tensor.order());
  for (int mode = 0; mode < std::ssize(nonnegative); ++mode)
    if (nonnegative[mode]) options.nonnegative_modes.push_back(mode);
  console.say(report::rank_table_head());
  options.observer = [&](const CountEvidence& evidence) { console.say(report::rank_table_line(evidence)); };
  const auto result = choose_rank(console.context(), std::move(x), options);
  console.say("\n" + result.summary());
  console.result(result.json());
}

}  // namespace

void add_rank(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<RankArgs>();
  auto* command = app.add_subcommand("rank", "Try several numbers of components and recommend one");
  command->add_option("-r,--components", args->components,
                      "Numbers of components to try, as in 1-8 or 1,2,4,8 (default 1-8)");
  command->add_option("--starts", args->rank.num_starts, "Number of random starts for each of them")
      ->capture_default_str()
      ->check(in_range(1, 1000));
  command
      ->add_option("--holdout", args->rank.held_out,
                   "Fraction of the nonzeros that is held out and predicted (0: none)")
      ->capture_default_str()
      ->check(fault_of_real)
      ->check(in_range(0.0, 0.5));
  command->add_option("-i,--iters", args->rank.max_iterations, "Maximum number of iterations")
      ->capture_default_str()
      ->check(in_range(1, std::numeric_limits<int>::max()));
  command->add_option("--tol", args->rank.tolerance, "Stop when the fit changes by a smaller part; 0: never")
      ->capture_default_str()
      ->check(fault_of_real)
      ->check(in_range(0.0, 1.0));
  add_seed_option(*command, args->rank.seed, "Seed of the first start; the others have the next numbers");
  command
      ->add_option("--init", args->init,
                   "Initial factors: uniform, normal, svd, or auto as cpd chooses; svd: of the first start")
      ->capture_default_str()
      ->check(CLI::IsMember(names_of(all_starts())));
  // A flag takes a value after = only: so it cannot take the name of the input for one.
  command->add_flag("--nonneg{all}", args->nonneg,
                    "No negative entries in the factors: of all modes, or with --nonneg=1,3 of these");
  command->add_option("--format", args->format, "Storage format of the nonzeros in memory")
      ->capture_default_str()
      ->check(CLI::IsMember(names_of(all_storage_formats())));
  command
      ->add_option("--precision", args->precision,
                   "Floating-point precision of tensor values and factors: single or double")
      ->capture_default_str()
      ->check(CLI::IsMember({"double", "single"}));
  add_memory_option(*command, args->memory,
                    "Memory limit, as in 800MB; decompositions that would not fit are refused (default: the "
                    "memory of the machine)");
  add_input_options(*command, args->input);
  add_common_options(*command, args->common);
  command->footer("Example: polyad rank data/debian.tns.gz --components 1-6");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
