#include <memory>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/option_text.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/polyad.hpp"

namespace polyad::cli {
namespace {

struct StatsArgs {
  CommonOptions common;
  InputOptions input;
  StatsOptions stats;
};

FilePlan file_plan(const StatsArgs& args) {
  auto plan = plan_input(args.input);
  if (args.stats.formats) plan.reads_machine_constants();
  return plan;
}

void run(const Comm& comm, const StatsArgs& args) {
  Console console(comm, args.common, collectively(comm, [&] { return file_plan(args); }));
  if (args.stats.formats) require_one_process(comm, "stats --formats");
  const auto result = stats(console.context(), load(args.input, console), args.stats);
  console.say(result.summary());
  console.result(result.json());
}

}  // namespace

void add_stats(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<StatsArgs>();
  auto* command =
      app.add_subcommand("stats", "Statistics of a tensor: dimensions, nonzeros, slices, duplicates");
  auto* formats = command->add_flag("--formats", args->stats.formats,
                                    "Also predict the time and memory of cpd in each storage format");
  command->add_option("-r,--rank", args->stats.rank, "Number of components for these predictions")
      ->capture_default_str()
      ->check(in_range<Index>(1, max_rank))
      ->needs(formats);
  add_input_options(*command, args->input);
  add_common_options(*command, args->common);
  command->footer("Example: polyad stats data/debian.tns.gz");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
