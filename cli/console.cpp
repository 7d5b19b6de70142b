#include "cli/console.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/option_text.hpp"
#include "cli/output.hpp"
#include "polyad/base/error.hpp"
#include "polyad/comm/collective.hpp"

namespace polyad::cli {
namespace {

Progress::Style progress_style(const Comm& comm, const CommonOptions& options) {
  if (options.quiet || comm.rank() != 0) return Progress::Style::silent;
  return Progress::style_for(stderr);
}

// Processes that are bound to cores of their own use those; others share the machine's evenly.
void set_threads(const Comm& comm, const CommonOptions& options) {
  const int sharing = comm.ranks_on_this_machine();
  const bool is_bound = omp_get_num_procs() < sysconf(_SC_NPROCESSORS_ONLN);
  if (options.threads > 0)
    omp_set_num_threads(options.threads);
  else if (!is_bound && sharing > 1 && std::getenv("OMP_NUM_THREADS") == nullptr)
    omp_set_num_threads(std::max(1, omp_get_num_procs() / sharing));
}

}  // namespace

void add_common_options(CLI::App& command, CommonOptions& options) {
  command.add_option("--json", options.json, "Write the result as JSON to a file ('-': standard output)");
  command.add_flag("-q,--quiet", options.quiet, "No words and no progress; warnings and errors remain");
  command.add_option("-t,--threads", options.threads, "Threads per process")->check(in_range(1, 4096));
}

Console::Console(const Comm& comm, const CommonOptions& options, Words words)
    : comm_(comm),
      options_(options),
      words_(options.json == "-" ? Words::to_standard_error : words),
      progress_(progress_style(comm, options)) {
  set_threads(comm, options);
}

void Console::print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw Error(Errc::resource, "the result cannot be written to standard output");
}

void Console::say(const std::string& text) const {
  if (comm_.rank() != 0 || options_.quiet) return;
  if (words_ == Words::to_standard_error)
    fmt::print(stderr, "{}\n", text);
  else
    print(text + "\n");
}

void Console::warn(const std::string& text) const {
  if (comm_.rank() == 0) fmt::print(stderr, "polyad: warning: {}\n", text);
}

void Console::result(const nlohmann::ordered_json& json) const {
  if (options_.json.empty()) return;
  collectively(comm_, [&] {
    if (comm_.rank() != 0) return;
    const std::string text =
        json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    if (options_.json == "-") {
      print(text);
      return;
    }
    write_text(options_.json, text);
  });
}

}  // namespace polyad::cli
