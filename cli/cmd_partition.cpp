#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/older_parts.hpp"
#include "cli/option_text.hpp"
#include "cli/output.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/hypergraph/external_partitioner.hpp"
#include "polyad/io/hypergraphs/hmetis_file.hpp"
#include "polyad/io/hypergraphs/partition_file.hpp"
#include "polyad/report/partition_report.hpp"
#include "polyad/tasks/detail/output_files.hpp"
#include "polyad/tasks/detail/partition_cache.hpp"

namespace polyad::cli {
namespace {

struct Args {
  CommonOptions common;
  InputOptions input;
  std::string model = "fine", method = "hypergraph", metric = "connectivity", level = "default",
              weights = "per-mode";
  int num_parts = 2;
  double imbalance = 0.05, rho = 2, seconds = 0;
  std::uint64_t seed = 1;
  std::string out, hypergraph_out, cache;
  PreviousPartition older;
  bool no_cache = false, force = false;
};

bool is_hypergraph_file(const std::string& path) {
  return path.ends_with(".hgr") || path.ends_with(".hgr.gz");
}

PartitionMethod parse_method(const std::string& text) {
  for (const auto method : {PartitionMethod::hypergraph, PartitionMethod::bisection, PartitionMethod::block,
                            PartitionMethod::zoltan, PartitionMethod::mt_kahypar})
    if (text == to_string(method)) return method;
  return PartitionMethod::random;
}

PartitionModel parse_model(const std::string& text) {
  for (const auto model : {PartitionModel::fine, PartitionModel::coarse, PartitionModel::column})
    if (text == to_string(model)) return model;
  return PartitionModel::row;
}

Effort parse_level(const std::string& text) {
  for (const auto effort : {Effort::fast, Effort::best})
    if (text == to_string(effort)) return effort;
  return Effort::normal;
}

TensorPartitionOptions parse(const Args& args) {
  TensorPartitionOptions options;
  options.model = parse_model(args.model);
  options.slice_weights = args.weights == "together" ? SliceWeights::together : SliceWeights::per_mode;
  options.method = parse_method(args.method);
  options.hypergraph.num_parts = args.num_parts;
  options.hypergraph.imbalance = args.imbalance;
  if (args.metric == "lambda2") options.hypergraph.objective.kind = Objective::Kind::lambda_power;
  options.hypergraph.objective.rho = args.rho;
  options.hypergraph.effort = parse_level(args.level);
  options.hypergraph.seed = args.seed;
  if (args.seconds > 0) options.hypergraph.time_limit_seconds = args.seconds;
  return options;
}

bool searches(const Args& args) {
  return args.method != "block" && args.method != "random";
}

void check_outside_method(const Args& args) {
  const bool is_zoltan = args.method == "zoltan";
  if (is_zoltan && !has_zoltan()) throw Error(Errc::bad_option, no_zoltan);
  if (!is_zoltan && !has_mt_kahypar()) throw Error(Errc::bad_option, no_mt_kahypar);
  if (args.model == "coarse" && args.weights == "per-mode")
    throw Error(Errc::bad_option,
                fmt::format("{} balances one weight, and slices have one for each mode: --model coarse goes "
                            "with --weights together",
                            is_zoltan ? "Zoltan" : "Mt-KaHyPar"));
}

// No option is ignored.
void check_method(const Args& args) {
  const Args defaults;
  const bool is_own = args.method == "hypergraph" || args.method == "bisection";
  if (!is_own && (args.level != defaults.level || args.seconds > 0 || args.metric != defaults.metric))
    throw Error(Errc::bad_option,
                fmt::format("--level, --time and --metric go with --method hypergraph or bisection, not {}",
                            args.method));
  if (!searches(args) && args.imbalance != defaults.imbalance)
    throw Error(Errc::bad_option,
                fmt::format("--imbalance goes with methods that search, not with {}", args.method));
  if (args.method == "zoltan" || args.method == "mt-kahypar") check_outside_method(args);
  if (!args.cache.empty() && (args.no_cache || !searches(args)))
    throw Error(Errc::bad_option, "--cache goes with methods that search, and not with --no-cache");
  if (args.method == "block" && args.seed != defaults.seed)
    throw Error(Errc::bad_option, "--seed is for what is random, --method block is not");
  if (!args.older.path.empty() && args.method != "hypergraph")
    throw Error(Errc::bad_option, "--refine goes with --method hypergraph");
  if (!args.older.dims.empty() && (args.older.path.empty() || args.model != "coarse"))
    throw Error(Errc::bad_option, "--refine-dims goes with --refine and --model coarse");
  if (args.weights != defaults.weights && args.model != "coarse")
    throw Error(Errc::bad_option, "--weights goes with --model coarse");
  if (!args.hypergraph_out.empty() && args.model == "coarse" && args.weights == defaults.weights)
    throw Error(Errc::bad_option,
                "slices have a weight for each mode, and vertices in an .hgr file one: --write-hypergraph "
                "goes with --weights together");
}

void check_hypergraph_input(const Args& args) {
  const auto& input = args.input;
  if (args.model != "fine" || !args.hypergraph_out.empty() || args.no_cache || !args.cache.empty())
    throw Error(Errc::bad_option,
                "--model, --write-hypergraph, --cache and --no-cache are for tensors; this is a hypergraph");
  if (!input.format.empty() || input.index_base >= 0 || !input.dims.empty() || !input.columns.empty() ||
      !input.value.empty() || !input.labels.empty())
    throw Error(Errc::bad_option, "how to read a tensor was said; this is a hypergraph");
}

void check(const Args& args) {
  check_method(args);
  if (is_hypergraph_file(args.input.path)) check_hypergraph_input(args);
}

FilePlan file_plan(const Args& args) {
  auto plan = plan_input(args.input);
  plan.reads("the file that --refine names", args.older.path);
  if (searches(args) && !args.no_cache && !is_hypergraph_file(args.input.path)) plan_cache(plan, args.cache);
  plan.writes("--out", args.out, existing(args.force));
  return plan.writes("--write-hypergraph", args.hypergraph_out, existing(args.force));
}

void check_num_parts(const Args& args, Index num_vertices) {
  if (num_vertices < args.num_parts)
    throw Error(Errc::bad_option, fmt::format("--parts {}: there are no more than {} vertices to share out",
                                              args.num_parts, num_vertices));
}

void partition_hypergraph_file(const Args& args, PartitionRun& run, Console& console) {
  Stopwatch watch;
  const auto h = console.progress().during("reading " + args.input.path,
                                           [&] { return io::read_hypergraph(args.input.path); });
  run.model = "hypergraph";
  run.options.older = read_older_parts(args.older, h.num_vertices(), args.num_parts);
  run.load_seconds = watch.lap();
  check_num_parts(args, h.num_vertices());
  auto result =
      console.progress().during("partitioning", [&] { return partition_by(h, run.method, run.options); });
  run.partition = {std::move(result.parts),
                   std::move(result.metrics),
                   result.was_cut_short,
                   h.num_vertices(),
                   h.num_nets(),
                   h.num_pins()};
  run.partition_seconds = watch.lap();
}

// Only partitions that another run would make again are kept.
bool is_kept(const Args& args, const PartitionRun& run) {
  const bool is_same_again = !run.partition.was_cut_short && args.method != "mt-kahypar";
  return !args.no_cache && args.older.path.empty() && is_same_again && searches(args);
}

void partition_tensor_file(const Comm& comm, const Args& args, PartitionRun& run, Console& console) {
  Stopwatch watch;
  const auto x = load(args.input, console).tensor;
  auto options = parse(args);
  const Index count = num_partitioned(x, options.model);
  options.hypergraph.older = options.model == PartitionModel::coarse
                                 ? read_older_slices(args.older, x.extents(), args.num_parts)
                                 : read_older_parts(args.older, count, args.num_parts);
  run.options = options.hypergraph;
  run.model = args.model;
  run.load_seconds = watch.lap();
  if (!args.out.empty())
    tasks::require_space(args.out, 2.0 * double(count), "a part for each of them would take at least");
  if (!args.hypergraph_out.empty())
    io::write_hypergraph(args.hypergraph_out, model_of(x, options), existing(args.force));
  watch.lap();
  const auto folder = tasks::cache_folder(args.cache);
  const auto key = tasks::partition_key(comm, x, options);
  tasks::StoredPartition stored;
  if (is_kept(args, run)) stored = tasks::read_stored_partition(folder, key);
  if (!stored.notice.empty()) console.warn(stored.notice);
  run.was_cached = stored.parts.has_value();
  run.partition = console.progress().during("partitioning", [&] {
    if (!run.was_cached) return partition_tensor(x, options);
    return measured_partition(x, options, std::move(*stored.parts));
  });
  run.partition_seconds = watch.lap();
  check_num_parts(args, run.partition.num_vertices);
  if (run.was_cached || !is_kept(args, run)) return;
  if (const auto notice = tasks::store_partition(folder, key, run.partition.parts); !notice.empty())
    console.warn(notice);
}

void run(const Comm& comm, const Args& args) {
  require_one_process(comm, "partition");
  check(args);
  Console console(comm, args.common, collectively(comm, [&] { return file_plan(args); }));
  PartitionRun run;
  run.method = parse_method(args.method);
  run.options = parse(args).hypergraph;
  if (is_hypergraph_file(args.input.path))
    partition_hypergraph_file(args, run, console);
  else
    partition_tensor_file(comm, args, run, console);
  run.threads = num_threads();
  run.peak_memory_bytes = peak_memory_bytes();
  if (!args.out.empty()) io::write_partition(args.out, run.partition.parts, existing(args.force));
  console.say(partition_text(run));
  if (!args.out.empty()) console.say(args.out + ": a part per line");
  console.result(partition_json(run));
}

void add_method_options(CLI::App& command, Args& args) {
  command.add_option("--method", args.method, "hypergraph is the one that looks for little communication")
      ->capture_default_str()
      ->check(CLI::IsMember({"hypergraph", "bisection", "block", "random", "zoltan", "mt-kahypar"}));
  command
      .add_option("--metric", args.metric, "What is made small: connectivity - 1, or the sum of lambda^rho")
      ->capture_default_str()
      ->check(CLI::IsMember({"connectivity", "lambda2"}));
  command.add_option("--rho", args.rho, "The exponent of that sum")
      ->capture_default_str()
      ->check(fault_of_real)
      ->check(in_range(1.0, 8.0));
  command
      .add_option("--imbalance", args.imbalance, "How much heavier than the mean a part may be, a fraction")
      ->capture_default_str()
      ->check(fault_of_real)
      ->check(in_range(0.0, 100.0));
  command.add_option("--level", args.level, "How hard to try")
      ->capture_default_str()
      ->check(CLI::IsMember({"fast", "default", "best"}));
  command.add_option("--time", args.seconds, "Stop after as many seconds with the best so far")
      ->check(fault_of_real)
      ->check(CLI::PositiveNumber);
  command.add_option("--seed", args.seed, "Seed of what is random")
      ->capture_default_str()
      ->check(fault_of_seed);
}

}  // namespace

void add_partition(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<Args>();
  auto* command = app.add_subcommand("partition", "Who gets what: a partition of a tensor or hypergraph");
  command->add_option("-k,--parts", args->num_parts, "Number of parts")
      ->required()
      ->check(in_range(1, max_parts));
  command
      ->add_option("--model", args->model,
                   "Of nonzeros, of whole slices, or of the rows or columns of a matrix")
      ->capture_default_str()
      ->check(CLI::IsMember({"fine", "coarse", "row", "column"}));
  command->add_option("--weights", args->weights, "Of slices: balanced in each mode, or all together")
      ->capture_default_str()
      ->check(CLI::IsMember({"per-mode", "together"}));
  add_method_options(*command, *args);
  command->add_option("--refine", args->older.path,
                      "An older partition to improve; what is not in it is new");
  command->add_option("--refine-dims", args->older.dims,
                      "Of slices: the dimensions of the tensor that it is of, if that has grown since");
  command->add_option("--out", args->out, "Write a part per nonzero, slice, row or column, a line each");
  command->add_option("--write-hypergraph", args->hypergraph_out, "Write what is partitioned as x.hgr");
  add_force_option(*command, args->force);
  command->add_flag("--no-cache", args->no_cache,
                    "Neither look for the partition in the cache nor store it there");
  add_cache_option(*command, args->cache);
  add_input_options(*command, args->input);
  add_common_options(*command, args->common);
  command->footer("Example: polyad partition data/debian.tns.gz -k 16 --out debian.part");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
