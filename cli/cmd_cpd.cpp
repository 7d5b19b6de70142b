#include <limits>
#include <memory>
#include <utility>

#include "cli/commands.hpp"
#include "cli/distribution.hpp"
#include "cli/input.hpp"
#include "cli/option_text.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/unfinished_paths.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/polyad.hpp"

namespace polyad::cli {
namespace {

struct CpdArgs {
  CommonOptions common;
  InputOptions input;
  DecomposeOptions decompose;
  DistributionTexts distribution;
  std::string method = "als", precision = "double", format = "auto", mode_order = "auto", memory, out, page,
              nonneg = "none", init = "auto", weights, device = "auto";
  CheckpointTexts checkpoint;
  Index num_strongest = 5;
  bool verbose = false, missing = false, implicit = false, biases = false;
  std::optional<double> regularisation, shrinkage;
  double alpha = ImplicitOptions{}.alpha, test_fraction = 0;
};

// What --weights names is a file, else a column of the table.
bool has_weights_file(const CpdArgs& args) {
  std::error_code ignored;
  return !args.weights.empty() && std::filesystem::exists(args.weights, ignored);
}

// The same cells, with other values.
InputOptions weights_input(const CpdArgs& args) {
  auto input = args.input;
  input.transform.clear();
  input.dense_zeros = true;
  if (has_weights_file(args))
    input.paths = {args.weights};
  else if (input.value.empty())
    throw Error(Errc::bad_option,
                "--weights " + args.weights +
                    ": there is no such file; a column of the table requires --value, the column "
                    "of the values, beside --columns, those of the modes");
  else
    input.value = args.weights;
  return input;
}

FilePlan file_plan(const CpdArgs& args) {
  check_nonneg(args.input, args.nonneg);
  auto plan = plan_input(args.input);
  if (has_weights_file(args)) plan.reads("the weights", args.weights);
  plan.reads_in_place_of("--partition", partition_file(args.distribution), partition_words());
  plan.reads_in_place_of("--row-owners", row_owners_file(args.distribution), row_owners_words());
  plan.reads_machine_constants().reads_cached_partitions(args.distribution.cache);
  plan.goes_on_from("the model that --init names", start_model_path(args.init));
  plan.writes_checkpoints("--checkpoint", args.checkpoint.directory);
  return plan.writes_cp_model("--out", args.out).writes("--report", args.page);
}

// Those that do not depend on the tensor.
DecomposeOptions fixed_options(const CpdArgs& args) {
  auto options = args.decompose;
  options.method = args.method == "opt" ? Method::opt : Method::als;
  if (args.missing)
    options.missing =
        MissingOptions{.regularisation = args.regularisation.value_or(MissingOptions{}.regularisation),
                       .test_fraction = args.test_fraction,
                       .has_biases = args.biases};
  if (args.implicit)
    options.implicit = ImplicitOptions{args.alpha, args.regularisation, args.shrinkage, args.test_fraction};
  if (!args.missing && !args.implicit && (args.regularisation || args.test_fraction != 0))
    throw Error(Errc::bad_option,
                std::string(args.regularisation ? "--reg" : "--test") + " requires --missing or --implicit");
  options.precision = args.precision == "single" ? Precision::float32 : Precision::float64;
  options.format = named(args.format, all_storage_formats());
  options.device = parse_device(args.device, "--device");
  options.start = named(args.init, all_starts());
  if (!args.memory.empty()) options.max_memory_bytes = parse_bytes(args.memory, "--memory");
  parse_checkpoints(args.checkpoint, options);
  options.nonnegative = args.nonneg != "none";
  if (options.method == Method::opt && args.mode_order != "auto") options.mode_order = {0};  // is refused
  validate(options);
  return options;
}

DecomposeOptions options_for(const CpdArgs& args, int order) {
  auto options = fixed_options(args);
  options.mode_order = parse_mode_order(args.mode_order, order);
  const auto nonnegative = parse_nonneg(args.nonneg, order);
  options.nonnegative = false;
  for (int mode = 0; mode < std::ssize(nonnegative); ++mode)
    if (nonnegative[mode]) options.nonnegative_modes.push_back(mode);
  options.distribution = parse_distribution(args.distribution, options.seed, order);
  validate(options);
  return options;
}

void run(const Comm& comm, const CpdArgs& args) {
  Console console(comm, args.common, collectively(comm, [&] { return file_plan(args); }));
  const auto& context = console.context();
  if (fixed_options(args).checkpoint) save_on_signals();
  auto input = args.input;
  input.dense_zeros = args.missing;
  auto x = load(input, console);
  auto options = options_for(args, x.tensor.order());
  if (!args.weights.empty()) options.missing->weights = load(weights_input(args), console);
  if (const auto path = start_model_path(args.init); !path.empty())
    options.start_model = load_model(context, path);
  if (!args.out.empty()) check_output(context, x, options.rank, args.out);
  const auto model = decompose(context, std::move(x), options);
  if (!args.out.empty()) {
    save(context, model, args.out);
    console.say("wrote model to " + args.out);
  }
  const auto table = model.component_table(args.num_strongest);
  console.say(model.summary());
  if (args.verbose) console.say(model.details());
  console.say("\n" + table);
  if (!args.page.empty()) {
    save_report(context, model, args.page, args.num_strongest);
    console.say("wrote report to " + args.page);
  }
  warn_of_memory(context, model.peak_memory_bytes(), options.max_memory_bytes);
  console.result(model.json());
  require_finished(model);
}

void add_cell_options(CLI::App& command, CpdArgs& args) {
  auto* missing = command.add_flag(
      "--missing", args.missing,
      "Cells that the input does not have are unknown, not zero: fit the others only, and predict these");
  command
      .add_option(
          "--weights", args.weights,
          "How much the error of a cell counts: a column of the table, or a file with the same cells; "
          "requires --missing")
      ->needs(missing);
  command
      .add_flag("--biases", args.biases,
                "Add the mean of the cells and a bias of every row of every mode to the model; requires "
                "--missing")
      ->needs(missing);
  auto* implicit = command.add_flag("--implicit", args.implicit,
                                    "Implicit feedback: learn which cells are preferred, for lists of items");
  command
      .add_option("--reg", args.regularisation,
                  "L2 regularisation of factors, per cell (default 0.001 with --missing, for values of mean "
                  "square 1; with --implicit 0.2 for two modes, else 0)")
      ->check(fault_of_real)
      ->check(from_zero());
  command
      .add_option("--test", args.test_fraction,
                  "Hold out this share of the cells, as in 0.1: with --missing to measure the error there, "
                  "by which the model is chosen; with --implicit to measure lists")
      ->check(fault_of_real);
  command
      .add_option("--alpha", args.alpha,
                  "A cell of value x counts 1 + alpha * |x| / (mean of |x|) times, one without a value once; "
                  "requires --implicit")
      ->needs(implicit)
      ->capture_default_str()
      ->check(fault_of_real)
      ->check(from_zero());
  command
      .add_option(
          "--shrink", args.shrinkage,
          "L2 regularisation of factors, per row (default 20 for two modes, else 1); requires --implicit")
      ->needs(implicit)
      ->check(fault_of_real)
      ->check(from_zero());
}

}  // namespace

void add_cpd(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<CpdArgs>();
  auto* command = app.add_subcommand("cpd", "CP decomposition of a tensor: a sum of a few components");
  auto& cp = args->decompose;
  command->add_option("-r,--rank", cp.rank, "Number of components")
      ->required()
      ->check(in_range<Index>(1, max_rank));
  // A flag takes a value after = only: so it cannot take the name of the input for one.
  command->add_flag("--nonneg{all}", args->nonneg,
                    "Nonnegative factors: of all modes, or of some, as in --nonneg=1,3");
  command
      ->add_option("--method", args->method,
                   "als: one factor after the other; opt: all at once, for fits that als is slow to reach")
      ->capture_default_str()
      ->check(CLI::IsMember({"als", "opt"}));
  command
      ->add_option("-i,--iters", cp.max_iterations,
                   "Maximum number of iterations; increase it if the fit is still rising at the end")
      ->capture_default_str()
      ->check(in_range(0, std::numeric_limits<int>::max()));
  command->add_option("--tol", cp.tolerance, "Stop when the fit changes by a smaller part; 0: never")
      ->capture_default_str()
      ->check(fault_of_real)
      ->check(in_range(0.0, 1.0));
  add_seed_option(*command, cp.seed, "Seed of the random initial factors");
  command
      ->add_option("--starts", cp.num_starts,
                   "Number of random starts, with the seed and those after it; the best model is kept")
      ->capture_default_str()
      ->check(in_range(1, max_starts));
  add_cell_options(*command, *args);
  command->add_option("--out", args->out,
                      "Write the model: a directory, x.ktensor or x.npz, with its labels");
  command->add_option("--report", args->page, "Write an HTML report: one file, no network needed");
  command->add_option("--top", args->num_strongest, "How many of the strongest labels to show per mode")
      ->capture_default_str()
      ->check(in_range(1, 1000));
  command->add_flag("-v,--verbose", args->verbose,
                    "Also print the storage format, why it was chosen, and the passes of an iteration");
  add_checkpoint_options(*command, args->checkpoint);
  command->option_defaults()->group("Computation");
  command->add_option("--format", args->format, "Storage format of the nonzeros in memory")
      ->capture_default_str()
      ->check(CLI::IsMember(names_of(all_storage_formats())));
  command->add_option("--precision", args->precision, "Floating-point precision of tensor values and factors")
      ->capture_default_str()
      ->check(CLI::IsMember({"double", "single"}));
  command
      ->add_option("--device", args->device,
                   "What computes: auto (a GPU where it can, for large tensors), cpu, gpu, or gpu:1")
      ->capture_default_str();
  command
      ->add_option(
          "--init", args->init,
          "Initial factors: uniform or normal random numbers; auto: uniform for als without --nonneg where "
          "few "
          "values are negative, else normal; svd: singular vectors; or a model to continue from, of --out")
      ->capture_default_str();
  command->add_option("--mode-order", args->mode_order, "Order of the updates: auto, natural, or as in 2,1,3")
      ->capture_default_str();
  add_memory_option(*command, args->memory,
                    "Memory per process that may be used, as in 800MB; a run that would not fit is refused "
                    "(default: the memory of the machine)");
  add_distribution_options(*command, args->distribution);
  add_input_options(*command, args->input);
  add_common_options(*command, args->common);
  command->footer("Example: polyad cpd data/debian.tns.gz -r 8 --report debian.html");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
