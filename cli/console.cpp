#include "cli/console.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

#include "cli/option_text.hpp"
#include "cli/output.hpp"
#include "cli/threads.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/log.hpp"
#include "polyad/base/printable.hpp"
#include "polyad/comm/collective.hpp"

namespace polyad::cli {
namespace {

Progress::Style progress_style(const Comm& comm, const CommonOptions& options) {
  if (options.quiet || comm.rank() != 0) return Progress::Style::silent;
  return Progress::style_for(stderr);
}

}  // namespace

void add_common_options(CLI::App& command, CommonOptions& options) {
  command.add_option("--json", options.json, "Write the result as JSON to a file ('-': standard output)");
  command.add_flag("-q,--quiet", options.quiet, "No words and no progress; warnings and errors remain");
  command.add_option("-t,--threads", options.threads, "Threads per process")->check(in_range(1, max_threads));
}

Console::Console(const Comm& comm, const CommonOptions& options, FilePlan plan, Words words)
    : comm_(comm),
      options_(options),
      words_(options.json == "-" ? Words::to_standard_error : words),
      progress_(progress_style(comm, options)) {
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
  if (comm_.rank() == 0) write_log(stderr, fmt::format("polyad: warning: {}\n", printable(text)));
}

void Console::note(const std::string& text) const {
  if (comm_.rank() == 0 && !options_.quiet)
    write_log(stderr, fmt::format("polyad: note: {}\n", printable(text)));
}

void Console::result(const nlohmann::ordered_json& json) const {
  if (options_.json.empty()) return;
  collectively(comm_, [&] {
    if (comm_.rank() != 0) return;
    const std::string text =
        json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    if (options_.json == "-") {
      print(printable_json(text));
      return;
    }
    write_text(options_.json, text);
  });
}

}  // namespace polyad::cli
