#include "cli/output.hpp"

namespace polyad::cli {

std::vector<std::filesystem::path> save(const std::filesystem::path& path, const Tensor& x,
                                        const SaveOptions& options, const Console& console) {
  auto files = polyad::save(console.context(), x, path, options);
  for (const auto& file : files) console.say(file.string() + ": labels");
  return files;
}

void add_force_option(CLI::App& command, bool& force) {
  command.add_flag("--force", force, "Replace the output if it exists; without it that is an error");
}

Existing existing(bool force) {
  return force ? Existing::replaced : Existing::refused;
}

}  // namespace polyad::cli
