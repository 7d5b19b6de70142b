#include "cli/console.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "cli/option_text.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/log.hpp"
#include "polyad/base/printable.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/tasks/program.hpp"
#include "polyad/tasks/save.hpp"

namespace polyad::cli {
namespace {

// Of the program, from main() to its end.
std::vector<std::string>& command_words() {
  static std::vector<std::string> words;
  return words;
}

std::shared_ptr<Progress> progress_of(const Comm& comm, const CommonOptions& options) {
  const bool is_silent = options.quiet || comm.rank() != 0;
  return std::make_shared<Progress>(is_silent ? Progress::Style::silent : Progress::style_for(stderr));
}

void show(const Message& message, bool quiet) {
  const bool is_note = message.kind == Message::Kind::note;
  if (is_note && quiet) return;
  write_log(stderr, fmt::format("polyad: {}: {}\n", is_note ? "note" : "warning", printable(message.text)));
}

ContextOptions context_options(const CommonOptions& options) {
  ContextOptions context;
  context.on_message = [quiet = options.quiet](const Message& message) { show(message, quiet); };
  context.option_names = command_line_name;
  context.command = command_words();
  return context;
}

}  // namespace

void remember_command(int argc, const char* const* argv) {
  command_words().assign(argv, argv + argc);
  if (argc > 0) command_words().front() = "polyad";  // wherever it is installed
}

void add_common_options(CLI::App& command, CommonOptions& options) {
  const auto group = command.option_defaults()->get_group();  // of options that come after these
  command.option_defaults()->group("General options");
  command.add_option("--json", options.json, "Write the result as JSON to a file ('-': standard output)");
  command.add_flag("-q,--quiet", options.quiet, "Print no text and no progress; warnings and errors remain");
  command.add_option("-t,--threads", options.threads, "Number of threads per process (default: all cores)")
      ->check(in_range(1, max_threads));
  command.option_defaults()->group(group);
}

Console::Console(const Comm& comm, const CommonOptions& options, FilePlan plan, Words words)
    : comm_(comm),
      options_(options),
      words_(options.json == "-" ? Words::to_standard_error : words),
      context_(comm, context_options(options), progress_of(comm, options)) {
  start_threads(comm, options.threads);
  if (options.json != "-") plan.writes("--json", options.json);
  collectively(comm, [&] {
    if (comm.rank() == 0) plan.check();
  });
}

void Console::print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  throw Error(Errc::resource,
              "the result cannot be written to standard output: " + std::generic_category().message(errno));
}

void Console::say(const std::string& text) const {
  if (comm_.rank() != 0 || options_.quiet) return;
  write_log(words_ == Words::to_standard_error ? stderr : stdout, printable_lines(text) + "\n");
}

void Console::warn(const std::string& text) const {
  context_.warn(text);
}

void Console::note(const std::string& text) const {
  context_.note(text);
}

void Console::result(const std::string& json) const {
  if (options_.json.empty()) return;
  if (options_.json != "-") return save_text(context_, json + "\n", options_.json);
  collectively(comm_, [&] {
    if (comm_.rank() == 0) print(printable_json(json + "\n"));
  });
}

}  // namespace polyad::cli
