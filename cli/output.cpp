#include "cli/output.hpp"

#include <fmt/format.h>

#include "cli/option_text.hpp"
#include "polyad/base/error.hpp"
#include "polyad/io/models/label_files.hpp"
#include "polyad/tasks/detail/output_files.hpp"

namespace polyad::cli {
std::vector<std::filesystem::path> save(const std::filesystem::path& path, const io::LoadedTensor& loaded,
                                        const io::WriteOptions& options, Console& console) {
  const bool labels_beside = !io::holds_labels(io::output_format(path, options));
  if (labels_beside) io::check_label_files(io::labels_of_tensor(path), loaded.labels);
  tasks::require_space(path, io::predicted_bytes(path, loaded.tensor, loaded.labels, options),
                       "the tensor would take about");
  console.progress().begin("writing " + path.filename().string());
  io::write_tensor(path, loaded.tensor, loaded.labels, options);
  console.progress().finish();
  if (!labels_beside) return {};
  auto files = io::write_label_files(io::labels_of_tensor(path), loaded.labels);
  for (const auto& file : files) console.say(file.string() + ": labels");
  return files;
}

void add_force_option(CLI::App& command, bool& force) {
  command.add_flag("--force", force, "Replace the output if it exists; else that is an error");
}

io::Existing existing(bool force) {
  return force ? io::Existing::replaced : io::Existing::refused;
}

}  // namespace polyad::cli
