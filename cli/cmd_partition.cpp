#include <memory>
#include <utility>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/option_text.hpp"
#include "cli/output.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/polyad.hpp"

namespace polyad::cli {
namespace {

struct PartitionArgs {
  CommonOptions common;
  InputOptions input;
  PartitionOptions partition;
  std::string model = "fine", method = "hypergraph", metric = "connectivity", level = "default",
              weights = "per-mode", previous, previous_dims, cache, out, rows_out, hypergraph_out;
  bool force = false;
};

PartitionOptions parse(const PartitionArgs& args) {
  auto options = args.partition;
  options.model = named(args.model, hypergraph::all_partition_models);
  options.slice_weights = named(args.weights, hypergraph::all_slice_weights);
  options.method = named(args.method, hypergraph::all_partition_methods);
  options.metric = named(args.metric, all_partition_metrics);
  options.effort = named(args.level, hypergraph::all_efforts);
  options.previous_file = args.previous;
  if (!args.previous_dims.empty()) options.previous_dims = parse_dims(args.previous_dims, "--refine-dims");
  options.cache = args.cache;
  validate(options);
  if (!args.rows_out.empty() && options.model != PartitionModel::fine_with_rows)
    throw Error(Errc::bad_option, "--out-rows requires --model fine-with-rows, which assigns rows to parts");
  if (!args.hypergraph_out.empty() && options.model == PartitionModel::fine_with_rows)
    throw Error(Errc::bad_option,
                "nonzeros and rows have different weights, and vertices in an .hgr file one: "
                "--write-hypergraph cannot be combined with --model fine-with-rows");
  if (!args.hypergraph_out.empty() && options.model == PartitionModel::coarse &&
      options.slice_weights == SliceWeights::per_mode)
    throw Error(Errc::bad_option,
                "slices have a weight for each mode, and vertices in an .hgr file one: --write-hypergraph "
                "requires --weights together");
  return options;
}

bool is_hypergraph(const PartitionArgs& args) {
  return args.input.paths.size() == 1 && is_hypergraph_file(args.input.paths[0]);
}

void check_hypergraph_input(const PartitionArgs& args) {
  auto given = given_options(args.input);
  if (!args.hypergraph_out.empty()) given.emplace_back("--write-hypergraph");
  if (!given.empty())
    throw Error(Errc::bad_option, given.front() + " applies to tensors; INPUT is a hypergraph (.hgr)");
}

FilePlan file_plan(const PartitionArgs& args, const PartitionOptions& options) {
  auto plan = plan_input(args.input);
  plan.reads("the file that --refine names", args.previous);
  if (!options.no_cache && !is_hypergraph(args)) plan_cache(plan, args.cache);
  plan.writes("--out", args.out, existing(args.force));
  plan.writes("--out-rows", args.rows_out, existing(args.force));
  return plan.writes("--write-hypergraph", args.hypergraph_out, existing(args.force));
}

Partition partition_tensor_file(const PartitionArgs& args, const PartitionOptions& options,
                                Console& console) {
  const auto& context = console.context();
  const auto x = load(args.input, console);
  if (!args.out.empty()) check_output(context, x, options, args.out);
  if (!args.hypergraph_out.empty())
    save(context, model_hypergraph(x, options), args.hypergraph_out, existing(args.force));
  return partition(context, x, options);
}

void run(const Comm& comm, const PartitionArgs& args) {
  require_one_process(comm, "partition");
  const auto options = parse(args);
  const bool is_graph = is_hypergraph(args);
  if (is_graph) check_hypergraph_input(args);
  if (is_graph) validate_for_hypergraph(options);
  Console console(comm, args.common, collectively(comm, [&] { return file_plan(args, options); }));
  const auto& context = console.context();
  const auto parts = is_graph ? partition(context, load_hypergraph(context, args.input.paths[0]), options)
                              : partition_tensor_file(args, options, console);
  if (!args.out.empty()) save(context, parts, args.out, existing(args.force));
  if (!args.rows_out.empty()) save_row_owners(context, parts, args.rows_out, existing(args.force));
  console.say(parts.summary());
  if (!args.out.empty()) console.say("wrote partition to " + args.out);
  if (!args.rows_out.empty()) console.say("wrote owners of rows to " + args.rows_out);
  console.result(parts.json());
}

void add_method_options(CLI::App& command, PartitionArgs& args) {
  auto& options = args.partition;
  command.add_option("--method", args.method, "Partitioning method; hypergraph minimises communication")
      ->capture_default_str()
      ->check(CLI::IsMember(names_of(hypergraph::all_partition_methods)));
  command
      .add_option("--metric", args.metric,
                  "Metric to minimise: connectivity - 1, or the sum of lambda^rho over cut nets")
      ->capture_default_str()
      ->check(CLI::IsMember(names_of(all_partition_metrics)));
  command.add_option("--rho", options.rho, "Exponent of --metric lambda2")
      ->capture_default_str()
      ->check(fault_of_real)
      ->check(in_range(1.0, 8.0));
  command
      .add_option("--imbalance", options.imbalance,
                  "How much heavier than the mean a part may be, as a fraction")
      ->capture_default_str()
      ->check(fault_of_real)
      ->check(in_range(0.0, 100.0));
  command.add_option("--level", args.level, "Effort: more of it takes longer for a better partition")
      ->capture_default_str()
      ->check(CLI::IsMember(names_of(hypergraph::all_efforts)));
  command
      .add_option("--time", options.time_limit_seconds,
                  "Time limit in seconds (default none); then the best partition so far is taken")
      ->check(fault_of_real)
      ->check(above_zero());
  add_seed_option(command, options.seed, "Seed of the random numbers");
}

}  // namespace

void add_partition(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<PartitionArgs>();
  auto& options = args->partition;
  auto* command =
      app.add_subcommand("partition", "Partition a tensor or hypergraph so that processes send little");
  command->add_option("-k,--parts", options.parts, "Number of parts")
      ->required()
      ->check(in_range(1, hypergraph::max_parts));
  command
      ->add_option("--model", args->model,
                   "What is assigned to parts: nonzeros (fine), nonzeros and the owners of factor rows "
                   "(fine-with-rows), whole slices (coarse), or the rows or columns of a matrix")
      ->capture_default_str()
      ->check(CLI::IsMember(names_of(hypergraph::all_partition_models)));
  command
      ->add_option("--weights", args->weights,
                   "With --model coarse: balance the nonzeros of each mode, or of all modes together")
      ->capture_default_str()
      ->check(CLI::IsMember(names_of(hypergraph::all_slice_weights)));
  add_method_options(*command, *args);
  command->add_option(
      "--refine", args->previous,
      "Improve the previous partition in this file; nonzeros, slices or vertices that are not "
      "in it are new");
  command->add_option(
      "--refine-dims", args->previous_dims,
      "With --model coarse: the dimensions of the tensor that the previous partition is of, if "
      "it has grown since");
  command->add_option("--out", args->out,
                      "Write the partition: the part of a nonzero, slice, row or column per line");
  command->add_option("--out-rows", args->rows_out,
                      "With --model fine-with-rows: write the owners of factor rows, a part for each slice, "
                      "mode after mode, in a line each, for --row-owners of cpd");
  command->add_option("--write-hypergraph", args->hypergraph_out,
                      "Write the hypergraph that is partitioned, in hMetis format (.hgr)");
  add_force_option(*command, args->force);
  command->add_flag("--no-cache", options.no_cache,
                    "Neither look for the partition in the cache nor store it there");
  add_cache_option(*command, args->cache);
  add_input_options(*command, args->input);
  add_common_options(*command, args->common);
  command->footer("Example: polyad partition data/debian.tns.gz -k 16 --out debian.part");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
