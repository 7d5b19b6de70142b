#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/help.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/suggestion.hpp"

namespace polyad::cli {
namespace {

struct HelpArgs {
  std::vector<std::string> names;
  bool manual = false;
};

const CLI::App& find_command(const CLI::App& program, const std::vector<std::string>& names) {
  const auto* found = &program;
  for (const auto& name : names) {
    const auto commands = commands_of(*found);
    const auto next =
        std::ranges::find(commands, name, [](const CLI::App* each) { return each->get_name(); });
    if (next == commands.end())
      throw Error(Errc::bad_option, fmt::format("there is no command {} {}{}", full_name(*found), name,
                                                suggestion(name, command_names(*found))));
    found = *next;
  }
  return *found;
}

void run(const Comm& comm, const CLI::App& program, const HelpArgs& args) {
  const auto& command = find_command(program, args.names);
  if (comm.rank() == 0) Console::print(args.manual ? manual_page(command) : help_text(command));
}

}  // namespace

void add_help(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<HelpArgs>();
  auto* command = app.add_subcommand("help", "Show the help of a command");
  command->add_option("command", args->names,
                      "The command, as in cpd or generate like (default: the program)");
  command->add_flag("--man", args->manual, "Print a manual page, as in polyad help --man cpd | man -l -");
  command->footer("Example: polyad help generate like");
  command->callback([args, comm, &app] { run(comm, app, *args); });
}

void add_completion(CLI::App& app, const Comm& comm) {
  auto shell = std::make_shared<std::string>();
  auto* command =
      app.add_subcommand("completion", "Print a script that completes commands and options in a shell");
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer("Example: polyad completion bash > ~/.local/share/bash-completion/completions/polyad");
  command->callback([shell, comm, &app] {
    if (comm.rank() == 0) Console::print(completion_script(app, *shell));
  });
}

}  // namespace polyad::cli
