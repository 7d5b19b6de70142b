#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/option_text.hpp"
#include "polyad/algo/run_cp.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/distributed/tensor_statistics.hpp"
#include "polyad/report/cpd_report.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/machine_file.hpp"

namespace polyad::cli {
namespace {

struct Args {
  CommonOptions common;
  InputOptions input;
  bool formats = false;
  CpRunOptions decompose;
};

// What cpd would choose. It counts on a copy of the tensor, which is gone afterwards.
FormatChoice format_choice(const Args& args, const SparseTensor<double>& x, Console& console) {
  return console.progress().during("counting fibers",
                                   [&] { return suggest_format<double>(x, args.decompose); });
}

void run(const Comm& comm, const Args& args) {
  auto plan = plan_input(args.input);
  if (args.formats) plan.reads("the constants of this machine", tasks::machine_file());
  Console console(comm, args.common, plan);
  if (args.formats) require_one_process(comm, "stats --formats");
  Timings timings;
  auto loaded = timings.measure("load", [&] { return load(args.input, console); });
  std::optional<FormatChoice> choice;
  if (args.formats)
    choice = timings.measure("formats", [&] { return format_choice(args, loaded.tensor, console); });
  const auto statistics = timings.measure("count", [&] {
    return console.progress().during("counting duplicates and slices",
                                     [&] { return compute_statistics(comm, std::move(loaded.tensor)); });
  });
  warn_of_duplicates(console, args.input, statistics.num_duplicates);
  console.say(fmt::format("{} ({})", args.input.path, io::traits(loaded.format).name));
  console.say(statistics_text(statistics, loaded.labels));
  const Index num_components = args.decompose.als.num_components;
  if (choice) console.say(format_choice_text(*choice, num_components));

  auto json = statistics_json(statistics, loaded.labels);
  if (choice) json["components"] = num_components;
  if (choice) json.update(format_choice_json(*choice));
  json["format"] = io::traits(loaded.format).name;
  json["processes"] = comm.size();
  json["threads"] = num_threads();
  for (const auto& [phase, seconds] : timings.phases()) json["seconds"][phase] = seconds;
  json["peak_memory_bytes"] = comm.all_reduce(peak_memory_bytes(), Reduce::max);
  console.result(json);
}

}  // namespace

void add_stats(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<Args>();
  auto* command = app.add_subcommand("stats", "What a tensor looks like: dims, nonzeros, slices, duplicates");
  auto* formats = command->add_flag("--formats", args->formats,
                                    "Also what cpd would take, in memory and time, in each of its formats");
  command->add_option("-r,--rank", args->decompose.als.num_components, "Number of components for that")
      ->capture_default_str()
      ->check(in_range(1, 100000))
      ->needs(formats);
  add_input_options(*command, args->input);
  add_common_options(*command, args->common);
  command->footer("Example: polyad stats data/debian.tns.gz");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
