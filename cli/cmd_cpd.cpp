#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/distribution.hpp"
#include "cli/input.hpp"
#include "cli/machine_file.hpp"
#include "cli/memory_use.hpp"
#include "cli/option_text.hpp"
#include "cli/output.hpp"
#include "cli/stored_partition.hpp"
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

FilePlan file_plan(const Args& args) {
  auto plan = plan_input(args.input);
  plan.reads("the file that --partition names", partition_file(args.distribution));
  plan.reads("the constants of this machine", machine_file());
  plan_cache(plan, args.distribution.cache);
  if (!args.out.empty()) {
    const auto format = output_format(args.out);
    const auto check = [out = args.out, format] { io::check_kruskal_place(out, format); };
    if (format == io::KruskalFormat::splatt)
      plan.writes_model("--out", args.out, check);
    else
      plan.writes_labelled("--out", args.out).requires_of_last(check);
  }
  return plan.writes("--report", args.page);
}

// A model has a row for every index, also for those without nonzeros.
void check_space(const Args& args, std::span<const Index> extents, Index num_nonzeros) {
  const Index num_components = args.decompose.als.num_components;
  require_space(
      args.out, io::predicted_bytes(args.out, output_format(args.out), extents, num_nonzeros, num_components),
      fmt::format("with a row for every index of {} the model would take about", dims_text(extents)));
}

template <class Real>
void save_model(const Args& args, CpdRun& run, const KruskalRows<Real>& model,
                std::span<const ModeLabels> labels, Console& console) {
  const Stopwatch watch;
  const auto format = output_format(args.out);
  console.progress().begin("writing " + args.out);
  if (format == io::KruskalFormat::splatt) {
    io::write_kruskal(args.out, model, format, [&](const std::filesystem::path& directory) {
      io::write_label_files(io::labels_place(directory, format), labels);
      run.output_seconds = watch.seconds();
      write_text(directory / "summary.json", cpd_json(run).dump(2) + "\n");
    });
  } else {
    io::write_kruskal(args.out, model, format);
    io::write_label_files(io::labels_place(args.out, format), labels);
    run.output_seconds = watch.seconds();
  }
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
  if (!args.out.empty()) save_model(args, run, model, labels, console);
  auto summary = summarise_components(model, labels, args.num_strongest);
  run.peak_memory_bytes = std::max(run.peak_memory_bytes, peak_memory_bytes());  // others only serve rows
  console.say(cpd_text(run, formats));
  console.say("\n" + components_text(summary, 100, 10, args.num_strongest));
  if (!args.page.empty()) save_page(args, run, std::move(summary), console);
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
  Console console(comm, args.common, collectively(comm, [&] { return file_plan(args); }));
  DecomposeOptions options = args.decompose;
  options.method = parse_method(args);
  if (!args.memory.empty()) options.max_bytes = parse_bytes(args.memory, "--memory");

  Stopwatch watch;
  auto loaded = load(comm, args.input, console);
  const double load_seconds = watch.lap();
  const Index num_nonzeros = comm.all_reduce(loaded.tensor.num_nonzeros());
  if (!args.out.empty())
    collectively(comm, [&] {
      if (comm.rank() != 0) return;
      io::check_label_files(io::labels_place(args.out, output_format(args.out)), loaded.labels);
      check_space(args, loaded.tensor.extents(), num_nonzeros);
    });
  options.read_bytes = bytes_of_reading();
  options.extra_bytes = bytes_beside(loaded);
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
  warn_of_memory(console, run.peak_memory_bytes, options.max_bytes);
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
