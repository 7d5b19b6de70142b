#include "cli/output.hpp"

#include "polyad/io/label_files.hpp"

namespace polyad::cli {

std::vector<std::filesystem::path> save(const std::filesystem::path& path, const io::LoadedTensor& loaded,
                                        const io::WriteOptions& options, Console& console) {
  const bool labels_beside = !io::holds_labels(io::output_format(path, options));
  if (labels_beside) io::check_label_files(path, loaded.labels);
  console.progress().begin("writing " + path.filename().string());
  io::write_tensor(path, loaded.tensor, loaded.labels, options);
  console.progress().finish();
  if (!labels_beside) return {};
  auto files = io::write_label_files(path, loaded.labels);
  for (const auto& file : files) console.say(file.string() + ": labels");
  return files;
}

}  // namespace polyad::cli
