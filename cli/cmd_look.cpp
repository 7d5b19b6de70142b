#include <memory>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "polyad/polyad.hpp"

namespace polyad::cli {
namespace {

struct LookArgs {
  CommonOptions common;
  InputOptions input;
  Index num_lines = LookOptions().num_lines;
};

void run(const Comm& comm, const LookArgs& args) {
  require_one_process(comm, "look");
  const Console console(comm, args.common, plan_input(args.input));
  const auto result =
      look(console.context(), tensor_files(args.input), {load_options(args.input), args.num_lines});
  console.say(result.summary());
  console.result(result.json());
}

}  // namespace

void add_look(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<LookArgs>();
  auto* command = app.add_subcommand(
      "look", "Show the first lines of a file, what its columns seem to be, and commands that read it");
  command->add_option("--lines", args->num_lines, "Number of lines to show")->capture_default_str();
  add_input_options(*command, args->input);
  add_common_options(*command, args->common);
  command->footer("Example: polyad look data/flights.csv.gz");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
