#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/dist/tensor_statistics.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::cli {
namespace {

struct Args {
  CommonOptions common;
  InputOptions input;
};

void run(const Comm& comm, const Args& args) {
  Console console(comm, args.common);
  Timings timings;
  auto loaded = timings.measure("load", [&] { return load(comm, args.input, console); });
  const auto statistics = timings.measure("count", [&] {
    return console.progress().during("counting duplicates and slices",
                                     [&] { return compute_statistics(comm, std::move(loaded.tensor)); });
  });
  warn_of_duplicates(console, args.input, statistics.num_duplicates);
  console.say(fmt::format("{} ({})", args.input.path, io::traits(loaded.format).name));
  console.say(statistics_text(statistics, loaded.labels));

  auto json = statistics_json(statistics, loaded.labels);
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
  add_input_options(*command, args->input);
  add_common_options(*command, args->common);
  command->footer("Example: polyad stats data/debian.tns.gz");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
