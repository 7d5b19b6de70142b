#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/distribution.hpp"
#include "cli/input.hpp"
#include "cli/machine_file.hpp"
#include "cli/option_text.hpp"
#include "cli/output.hpp"
#include "polyad/algo/cp_opt.hpp"
#include "polyad/algo/decompose.hpp"
#include "polyad/algo/strategy_memory.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/dist/served_rows.hpp"
#include "polyad/io/kruskal.hpp"
#include "polyad/io/label_files.hpp"
#include "polyad/io/tensor_format.hpp"
#include "polyad/report/components_text.hpp"
#include "polyad/report/cpd_page.hpp"
#include "polyad/report/cpd_report.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::cli {
namespace {

struct Args {
  CommonOptions common;
  InputOptions input;
  DecomposeOptions decompose;
  DistributionArgs distribution;
  std::string method = "als", precision = "double", mode_order = "auto", memory, out, page, nonneg = "none";
  Index num_strongest = 5;
};

Method parse_method(const Args& args) {
  if (args.method == "als") return Method::als;
  if (args.nonneg != "none") throw Error(Errc::bad_option, "--nonneg goes with --method als");
  if (args.mode_order != "auto")
    throw Error(Errc::bad_option, "--mode-order goes with --method als: opt moves all modes at once");
  return Method::opt;
}

// CP-OPT moves rows where they are owned, so that no mode can be replicated. Formats with a given set of
// trees need all nonzeros of a process in one tensor; coarse grain has one for each mode.
DistributionArgs distribution_for(const Args& args) {
  auto distribution = args.distribution;
  distribution.allows_coarse = !args.decompose.format.starts_with("csf-");
  if (args.method != "opt") return distribution;
  if (distribution.replicate != "auto" && distribution.replicate != "none")
    throw Error(Errc::bad_option, "--replicate goes with --method als");
  distribution.replicate = "none";
  return distribution;
}

// Where the model goes, and its labels beside it.
io::KruskalFormat output_format(const std::string& out) {
  const auto format = io::kruskal_format_by_extension(out);
  if (!format)
    throw Error(Errc::bad_option,
                fmt::format("--out {}: expected a directory, or a file that ends in .ktensor or .npz", out));
  return *format;
}

// Refuses what the disk certainly has no room for: a model is written with a row for every index, and a
// number takes 8 bytes in an .npz and 2 or more as text.
void check_room(const std::string& out, std::span<const Index> extents, Index num_components) {
  const auto place = std::filesystem::absolute(out).lexically_normal();
  std::error_code unknown;
  auto folder = place.filename().empty() ? place.parent_path() : place;
  if (!std::filesystem::is_directory(folder, unknown)) folder = folder.parent_path();
  const auto space = std::filesystem::space(folder, unknown);
  if (unknown || io::has_gzip_extension(out)) return;
  double numbers = 0;
  for (const Index extent : extents) numbers += double(extent) * double(num_components);
  const double bytes = numbers * (output_format(out) == io::KruskalFormat::npz ? 8 : 2);
  if (bytes > double(space.available))
    throw Error(
        Errc::resource,
        fmt::format("--out would write at least {} of factors, with a row for every index of {}; {} are "
                    "left there",
                    with_prefix(bytes, "B"), dims_text(extents), with_prefix(double(space.available), "B")));
}

void check_places(const Args& args) {
  using Type = std::filesystem::file_type;
  if (!args.out.empty())
    check_place(args.out,
                output_format(args.out) == io::KruskalFormat::splatt ? Type::directory : Type::regular);
  if (!args.page.empty()) check_place(args.page, Type::regular);
  const auto& json = args.common.json;
  if (!json.empty() && json != "-") check_place(json, Type::regular);
  auto inputs = input_paths(args.input);
  inputs.push_back({"the file that --partition names", partition_file(args.distribution)});
  check_distinct(inputs, {{"--out", args.out}, {"--report", args.page}, {"--json", json == "-" ? "" : json}});
}

template <class Real>
void save_model(const Args& args, const KruskalRows<Real>& model, std::span<const ModeLabels> labels,
                Console& console) {
  const auto format = output_format(args.out);
  console.progress().begin("writing " + args.out);
  io::write_kruskal(args.out, model, format);
  io::write_label_files(io::labels_anchor(args.out, format), labels);
  console.progress().finish();
  console.say(args.out + ": the model");
}

void save_page(const Args& args, const CpdRun& run, ComponentSummary summary, Console& console) {
  CpdPageContents page;
  page.title = std::filesystem::path(args.input.path).filename().string();
  page.input = args.input.path;
  page.num_nonzeros = run.num_nonzeros;
  page.tensor_norm = run.norm;
  page.seed = run.options.als.seed;
  page.precision = run.precision;
  page.format = run.chosen.name;
  page.plan = describe(run.chosen.plan);
  page.method = method_text(run.options.method);
  page.round = round_text(run.options.method);
  if (run.options.method == Method::als) page.mode_order = run.chosen.plan.mode_order;
  page.fit_trajectory = run.fit_trajectory;
  page.model_iteration = run.model_iteration;
  page.stop_reason = stop_text(run.stop);
  page.threads = run.threads;
  page.processes = run.processes;
  page.phase_seconds = phase_seconds(run);
  page.peak_memory_bytes = run.peak_memory_bytes;
  page.predicted_memory_bytes = run.chosen.peak_bytes();
  page.summary = std::move(summary);
  if (run.num_duplicates > 0)
    page.warnings.push_back(counted_were(run.num_duplicates, "duplicate coordinate") + " added up");
  if (const auto fall = fall_text(run); !fall.empty()) page.warnings.push_back(fall);
  page.version = "polyad " POLYAD_VERSION;
  write_text(args.page, cpd_page(page));
  console.say(args.page + ": a page to look at");
}

// What is told, drawn and written of a run that has ended: by the process that reads the model's rows.
template <class Real>
void save_all(const Args& args, CpdRun& run, const KruskalRows<Real>& model,
              std::span<const FormatOption> formats, std::span<const ModeLabels> labels, Console& console) {
  const Stopwatch watch;
  if (!args.out.empty()) save_model(args, model, labels, console);
  run.output_seconds = watch.seconds();
  auto summary = summarise_components(model, labels, args.num_strongest);
  console.say(cpd_text(run, formats));
  console.say("\n" + components_text(summary, 100, 10, args.num_strongest));
  if (!args.page.empty()) save_page(args, run, std::move(summary), console);
  if (!args.out.empty() && output_format(args.out) == io::KruskalFormat::splatt)
    write_text(std::filesystem::path(args.out) / "summary.json", cpd_json(run).dump(2) + "\n");
}

// What distributions are weighed by, besides time. All processes weigh with the most threads that one has, so
// that they choose alike.
template <class Real>
MemoryLimit memory_limit(const DecomposeOptions& options, int most_threads) {
  const auto need = [&options, most_threads](const PartLoads& loads, Scheme scheme) {
    return memory_need(loads, scheme, options.als.num_components, options.max_bytes, options.format,
                       {.value_bytes = sizeof(Real), .threads = most_threads},
                       options.method == Method::opt ? num_cp_opt_vectors : 0);
  };
  return {options.max_bytes, need};
}

template <class Real>
void run_with(const Comm& comm, const Args& args) {
  Console console(comm, args.common);
  collectively(comm, [&] { check_places(args); });
  DecomposeOptions options = args.decompose;
  options.method = parse_method(args);
  if (!args.memory.empty()) options.max_bytes = parse_bytes(args.memory, "--memory");

  Stopwatch watch;
  auto loaded = load(comm, args.input, console);
  const double load_seconds = watch.lap();
  if (!args.out.empty())
    collectively(comm, [&] {
      io::check_label_files(io::labels_anchor(args.out, output_format(args.out)), loaded.labels);
      if (comm.rank() == 0) check_room(args.out, loaded.tensor.extents(), options.als.num_components);
    });
  options.mode_order = parse_mode_order(args.mode_order, loaded.tensor.order());
  options.als.nonnegative = parse_nonneg(args.nonneg, loaded.tensor.order());
  const auto machine = load_machine(comm);
  const auto most_threads = int(comm.all_reduce(Index(num_threads()), Reduce::max));
  const auto chosen = console.progress().during("choosing a distribution", [&] {
    return decide_distribution(comm, loaded.tensor, distribution_for(args), options.als.seed,
                               options.als.num_components, machine.model,
                               memory_limit<Real>(options, most_threads), console);
  });
  const double decide_seconds = watch.lap();
  auto x = prepare<Real>(comm, std::move(loaded.tensor), options, console.progress(), chosen.distribution);
  x.timings.add("distribute", decide_seconds);
  warn_of_duplicates(console, args.input, x.num_duplicates);

  console.progress().begin("iterating", options.als.max_iterations, "iterations");
  auto result = decompose(x, options, [&](const CpProgress&) {
    console.progress().advance(1);
    return true;
  });
  console.progress().finish();

  auto run = describe_run(x, options, result);
  if (comm.size() > 1) describe_distribution(run, chosen, x.loads, machine.model);
  run.machine = machine.source;
  if (const auto fall = fall_text(run); !fall.empty()) console.warn(fall);
  run.load_seconds = load_seconds;
  const ServedRows<Real> model(x.tensor, std::move(result.model));
  run.peak_memory_bytes = comm.all_reduce(peak_memory_bytes(), Reduce::max);
  const auto failure = model.serve(
      [&](const KruskalRows<Real>& rows) { save_all(args, run, rows, x.options, loaded.labels, console); });
  collectively(comm, [&] {
    if (failure) std::rethrow_exception(failure);
  });
  console.result(cpd_json(run));
}

void run(const Comm& comm, const Args& args) {
  if (args.precision == "single")
    run_with<float>(comm, args);
  else
    run_with<double>(comm, args);
}

}  // namespace

void add_cpd(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<Args>();
  auto* command =
      app.add_subcommand("cpd", "CP decomposition: the tensor as a sum of a few simple components");
  auto& als = args->decompose.als;
  command->add_option("-r,--rank", als.num_components, "Number of components")
      ->required()
      ->check(in_range(1, 100000));
  command
      ->add_option("--method", args->method,
                   "als: one factor after the other; opt: all at once, for fits that als is slow to reach")
      ->capture_default_str()
      ->check(CLI::IsMember({"als", "opt"}));
  command->add_option("-i,--iters", als.max_iterations, "Iteration limit")
      ->capture_default_str()
      ->check(in_range(0, std::numeric_limits<int>::max()));
  command->add_option("--tol", als.tolerance, "Stop when the fit moves by less (0: never)")
      ->capture_default_str()
      ->check(fault_of_real)
      ->check(in_range(0.0, 1.0));
  command->add_option("--seed", als.seed, "Seed of the start")->capture_default_str()->check(fault_of_seed);
  auto formats = format_names();
  formats.insert(formats.begin(), "auto");
  // A flag takes a value after = only: so it cannot take the name of the input for one.
  command->add_flag("--nonneg{all}", args->nonneg,
                    "No negative entries: in all modes, or --nonneg=1,3 in these");
  command->add_option("--format", args->decompose.format, "How the nonzeros are held in memory")
      ->capture_default_str()
      ->check(CLI::IsMember(formats));
  command->add_option("--precision", args->precision, "Of values and factors")
      ->capture_default_str()
      ->check(CLI::IsMember({"double", "single"}));
  command->add_option("--mode-order", args->mode_order, "Order of the updates: auto, natural, or as in 2,1,3")
      ->capture_default_str();
  command
      ->add_option("--memory", args->memory,
                   "Memory that may be used, as in 800MB; refuse what would not fit")
      ->check(fault_of_memory);
  command->add_option("--out", args->out,
                      "Write the model: a directory, x.ktensor or x.npz, with its labels");
  command->add_option("--report", args->page, "Write a page to look at: one HTML file, no network needed");
  command->add_option("--top", args->num_strongest, "How many of the strongest labels to show per mode")
      ->capture_default_str()
      ->check(in_range(1, 1000));
  add_distribution_options(*command, args->distribution);
  add_input_options(*command, args->input);
  add_common_options(*command, args->common);
  command->footer("Example: polyad cpd data/debian.tns.gz -r 8 --report debian.html");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
