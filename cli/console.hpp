#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>

#include "polyad/base/progress.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/tasks/context.hpp"
#include "polyad/tasks/file_plan.hpp"

namespace polyad::cli {

// Keeps the words of the command line for the reports of the run.
void remember_command(int argc, const char* const* argv);

// The options that every command has.
struct CommonOptions {
  std::string json;  // where the machine-readable result goes; "-": standard output
  bool quiet = false;
  int threads = 0;  // 0: as OpenMP says, shared among the processes of this machine
};
void add_common_options(CLI::App& command, CommonOptions& options);

// Who hears what. Of many processes only the first speaks. Words for people go to standard output, or to
// standard error when the result itself goes to standard output. Warnings are never silenced.
class Console {
 public:
  // Where words go when the JSON does not decide it.
  enum class Words { to_standard_output, to_standard_error };

  // Checks all files of the command, and that of --json with them, before any work: see FilePlan. Process 0
  // does so, and all throw what it finds. Collective.
  Console(const Comm& comm, const CommonOptions& options, FilePlan plan,
          Words words = Words::to_standard_output);

  void say(const std::string& text) const;
  // A result that is itself a text, on standard output, whether quiet or not. Throws Error{resource}.
  static void print(std::string_view text);
  void warn(const std::string& text) const;
  // What was done that the user may not expect and need not change. Not told where words are not wanted.
  void note(const std::string& text) const;
  // Hands over the result where --json says. Collective: all processes learn when it cannot be written.
  void result(const std::string& json) const;
  // Where the tasks of the command run, with messages and progress shown here.
  const Context& context() const { return context_; }
  Progress& progress() { return context_.progress(); }

 private:
  Comm comm_;
  CommonOptions options_;
  Words words_;
  Context context_;
};

}  // namespace polyad::cli
