#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <csignal>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/help.hpp"
#include "cli/option_text.hpp"
#include "cli/standard_streams.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/log.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/printable.hpp"
#include "polyad/base/suggestion.hpp"
#include "polyad/base/unfinished_paths.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/tasks/program.hpp"
#include "polyad/version.hpp"

namespace {

constexpr double patience_seconds = 10;  // for the other processes to come to the same error

// The program's promise: 2 for bad input or a bad option, 3 for a resource that ran out, 4 for a run that was
// stopped before its end, 1 for a bug.
int exit_code(polyad::Errc code) {
  switch (code) {
    case polyad::Errc::bad_input:
    case polyad::Errc::bad_option:
    case polyad::Errc::io:
      return 2;
    case polyad::Errc::resource:
      return 3;
    case polyad::Errc::interrupted:
      return 4;
    default:
      return 1;
  }
}

// The command that was given, or the program if there is none.
const CLI::App& given_command(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

// The words of CLI11 for values that are missing, are too many or cannot be read, with its names of types.
std::string value_sentence(const CLI::App& command, const std::string& words) {
  const auto ends = [&](const char* end) { return words.ends_with(end); };
  const auto name = words.substr(0, words.find(": "));
  if (words.find(" required ") != std::string::npos && ends(" missing")) return name + ": a value is missing";
  if (words.find("At Most 1 required but received") != std::string::npos)
    return name + ": expected one value, once";
  constexpr std::string_view unreadable = "Could not convert: ";
  if (!words.starts_with(unreadable)) return words;
  const auto pair = words.substr(unreadable.size());
  const auto equals = pair.find(" = ");
  const auto option = pair.substr(0, equals);
  const auto* found = command.get_option_no_throw(option);
  if (found == nullptr || equals == std::string::npos) return words;
  const auto type = found->get_type_name();
  const char* const expected = type.starts_with("FLOAT") ? "a number" : "a whole number";
  return option + ": expected " + expected + ", not '" + pair.substr(equals + 3) + "'";
}

// CLI11's, but for a command or an option that there is not: these come before one that is missing, which
// they may have been meant to be.
std::string sentence(const CLI::App& app, const CLI::ParseError& stop) {
  const CLI::App* command = &given_command(app);
  constexpr bool also_of_commands = true;
  const auto not_understood = app.remaining(also_of_commands);
  if (command->get_require_subcommand_min() > 0 && !not_understood.empty() &&
      !not_understood.front().starts_with('-'))
    return "There is no command " + not_understood.front() +
           polyad::suggestion(not_understood.front(), polyad::cli::command_names(*command));
  for (const auto& word : not_understood)
    if (word.starts_with('-')) {
      std::vector<std::string> names;
      for (const auto& group : polyad::cli::option_groups(*command))
        for (const auto& option : group.options)
          names.insert(names.end(), option.names.begin(), option.names.end());
      const auto name = word.substr(0, word.find('='));
      const bool has_one_letter = !name.starts_with("--");  // which any other is as near to
      return "The following argument was not expected: " + name +
             (has_one_letter ? "" : polyad::suggestion(name, names));
    }
  return value_sentence(*command, stop.what());
}

// Help and version are no errors.
int end_of_parsing(const CLI::App& app, const CLI::ParseError& stop, const polyad::Comm& comm) {
  if (comm.rank() != 0) return stop.get_exit_code() == 0 ? 0 : 2;
  if (stop.get_exit_code() == 0) return app.exit(stop);
  polyad::write_log(stderr, "polyad: " + polyad::printable(sentence(app, stop)) + "; see " +
                                polyad::cli::full_name(given_command(app)) + " --help\n");
  return 2;
}

// Some errors have a table; the name of a file is on one line whatever it is.
std::string sentence(const polyad::Error& error) {
  const std::string text = error.text(polyad::cli::command_line_name), &file = error.input().file;
  if (!text.starts_with(file)) return polyad::printable_lines(text);
  return polyad::printable(file) + polyad::printable_lines(text.substr(file.size()));
}

// Every process comes here with the same error, or one of them alone, by a bug: then it stops all.
int end_of_error(const polyad::Error& error, const polyad::Runtime& runtime, const polyad::Comm& comm) {
  const int code = exit_code(error.code());
  const bool together = comm.all_arrive_within(patience_seconds);
  if (comm.rank() == 0 || !together)
    polyad::write_log(stderr, std::string("polyad: ") +
                                  (error.code() == polyad::Errc::internal ? "internal error: " : "") +
                                  sentence(error) + "\n");
  if (!together) runtime.abort(code);
  return code;
}

// Everything that was asked for has been done but for a text on standard output.
int end_of_run(const polyad::Comm& comm) {
  if (comm.rank() != 0 || !polyad::cli::has_lost_output()) return 0;
  polyad::write_log(stderr, "polyad: the summary cannot be written to standard output\n");
  return exit_code(polyad::Errc::resource);
}

// Inside the commands an empty string stands for an option that was not given, so none may come from outside.
void refuse_empty_values(CLI::App& app) {
  const auto fault = [](const std::string& value) {
    return std::string(value.empty() ? "expected a value, found an empty string" : "");
  };
  for (auto* option : app.get_options())
    if (option->get_items_expected_max() > 0) option->check(fault);
  for (auto* command : app.get_subcommands(nullptr)) refuse_empty_values(*command);
}

// In the order and under the titles of the help.
void add_commands(CLI::App& app, const polyad::Comm& comm) {
  using namespace polyad::cli;
  using Add = void (*)(CLI::App&, const polyad::Comm&);
  const std::vector<std::pair<const char*, std::vector<Add>>> groups = {
      {"Data", {add_get, add_look, add_stats, add_check, add_convert, add_generate}},
      {"CP decomposition", {add_cpd, add_rank, add_predict, add_compare}},
      {"Recommenders", {add_complete, add_recommend}},
      {"Dense tensors", {add_contract}},
      {"Many processes", {add_plan, add_partition}},
      {"The program", {add_doctor, add_help, add_completion}},
  };
  for (const auto& [title, commands] : groups)
    for (const auto add : commands) {
      const auto before = commands_of(app).size();
      add(app, comm);
      app.get_subcommand(int(before))->group(title);
    }
}

int run(int argc, char** argv, polyad::Runtime& runtime, const polyad::Comm& comm) {
  CLI::App app("Polyad finds structure in very large sparse and dense tensors.", "polyad");
  app.formatter(std::make_shared<polyad::cli::HelpFormatter>());  // before the commands, which inherit it
  app.set_version_flag("-V,--version", "polyad " POLYAD_VERSION);
  app.require_subcommand(1);
  app.footer("polyad COMMAND --help describes a command.");
  add_commands(app, comm);
  refuse_empty_values(app);
  try {
    polyad::require_same_command(comm, argc, argv);
    polyad::cli::remember_command(argc, argv);
    runtime.watch(polyad::collectively(comm, polyad::timeout_setting));
    app.parse(argc, argv);
  } catch (const CLI::ParseError& stop) {
    const int code = end_of_parsing(app, stop, comm);
    return code == 0 ? end_of_run(comm) : code;
  } catch (...) {
    return end_of_error(polyad::as_error(std::current_exception()), runtime, comm);
  }
  return end_of_run(comm);
}

}  // namespace

int main(int argc, char** argv) {
  polyad::cli::prepare_standard_streams();
  polyad::Runtime runtime(argc, argv);
  polyad::note_program_memory();
  const auto comm = polyad::Comm::world();
  polyad::remove_unfinished_on_signals(comm.size() == 1 ? polyad::sentence_on_signals : nullptr);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows beyond a limit is an error of writing
  return run(argc, argv, runtime, comm);
}
