#include "cli/output.hpp"

#include <fmt/format.h>

#include <system_error>

#include "cli/option_text.hpp"
#include "polyad/base/error.hpp"
#include "polyad/io/label_files.hpp"
#include "polyad/io/output_file.hpp"

namespace polyad::cli {
std::vector<std::filesystem::path> save(const std::filesystem::path& path, const io::LoadedTensor& loaded,
                                        const io::WriteOptions& options, Console& console) {
  const bool labels_beside = !io::holds_labels(io::output_format(path, options));
  if (labels_beside) io::check_label_files(io::labels_of_tensor(path), loaded.labels);
  require_space(path, io::predicted_bytes(path, loaded.tensor, loaded.labels, options),
                "the tensor would take about");
  console.progress().begin("writing " + path.filename().string());
  io::write_tensor(path, loaded.tensor, loaded.labels, options);
  console.progress().finish();
  if (!labels_beside) return {};
  auto files = io::write_label_files(io::labels_of_tensor(path), loaded.labels);
  for (const auto& file : files) console.say(file.string() + ": labels");
  return files;
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  io::OutputFile file(path);
  file.write(text);
  file.commit();
}

void add_force_option(CLI::App& command, bool& force) {
  command.add_flag("--force", force, "Replace the output if it exists; else that is an error");
}

io::Existing existing(bool force) {
  return force ? io::Existing::replaced : io::Existing::refused;
}

void require_space(const std::filesystem::path& path, double bytes, const std::string& what) {
  if (io::is_written_directly(path)) return;
  std::error_code unknown;
  auto folder = io::resolve_output(path);
  if (!std::filesystem::is_directory(folder, unknown)) folder = io::folder_of(folder);
  const auto space = std::filesystem::space(folder, unknown);
  const bool is_known = !unknown && space.capacity > 0;  // some file systems do not say
  if (!is_known || bytes <= double(space.available)) return;
  throw Error(Errc::resource,
              fmt::format("{} {}, and {} are free there", what, with_prefix(bytes, "B"),
                          with_prefix(double(space.available), "B")),
              {path.string(), 0});
}

}  // namespace polyad::cli
