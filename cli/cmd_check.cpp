#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/output.hpp"
#include "polyad/base/printable.hpp"
#include "polyad/polyad.hpp"

namespace polyad::cli {
namespace {

struct CheckArgs {
  CommonOptions common;
  InputOptions input;
  std::string fix;
  bool force = false;
  Index max_shown = 20;
};

void show_faults(const Console& console, const CheckArgs& args, const std::vector<FileFault>& faults) {
  const auto shown = std::min(args.max_shown, Index(faults.size()));
  for (Index i = 0; i < shown; ++i) console.say(to_text(faults[i]));
  if (shown < Index(faults.size()))
    console.say(
        fmt::format("... and {} more (--max-shown shows more)", with_commas(Index(faults.size()) - shown)));
}

void run(const Comm& comm, const CheckArgs& args) {
  require_one_process(comm, "check");
  CheckOptions options{load_options(args.input), args.fix, existing(args.force), {}};
  validate(options);
  Console console(comm, args.common,
                  plan_input(args.input).writes_labelled("--fix", args.fix, existing(args.force)));
  options.on_faults = [&](const auto& faults) { show_faults(console, args, faults); };
  const auto result = check(console.context(), tensor_files(args.input), options);
  const auto& faults = result.faults();
  console.say(result.summary());
  console.result(result.json());
  if (!faults.empty() && args.fix.empty())
    throw Error(Errc::bad_input,
                fmt::format("{}; check --fix OUT writes a file without {}", result.verdict(),
                            faults.size() == 1 ? "it" : "them"),
                {result.sound().path, 0});
}

}  // namespace

void add_check(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<CheckArgs>();
  auto* command = app.add_subcommand("check", "Read a whole tensor and report every fault with its line");
  add_input_options(*command, args->input);
  command->add_option("--fix", args->fix,
                      "Write the nonzeros without faults to this file, sorted, with duplicates added up");
  add_force_option(*command, args->force);
  command->add_option("--max-shown", args->max_shown, "Number of faults to show; all are counted")
      ->capture_default_str();
  add_common_options(*command, args->common);
  command->footer("Example: polyad check data/debian.tns.gz");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
