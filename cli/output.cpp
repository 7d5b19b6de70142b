#include "cli/output.hpp"

namespace polyad::cli {

void add_force_option(CLI::App& command, bool& force) {
  command.add_flag("--force", force, "Replace the output if it exists; without it that is an error");
}

Existing existing(bool force) {
  return force ? Existing::replaced : Existing::refused;
}

}  // namespace polyad::cli
