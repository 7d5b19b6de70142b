#pragma once

#include <CLI/App.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "polyad/base/progress.hpp"
#include "polyad/comm/comm.hpp"

namespace polyad::cli {

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
  Console(const Comm& comm, const CommonOptions& options);  // Collective.

  void say(const std::string& text) const;
  void warn(const std::string& text) const;
  // Hands over the result where --json says. Collective: all processes learn when it cannot be written.
  void result(const nlohmann::ordered_json& json) const;
  Progress& progress() { return progress_; }

 private:
  Comm comm_;
  CommonOptions options_;
  Progress progress_;
};

}  // namespace polyad::cli
