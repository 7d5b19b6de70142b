#include "cli/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "polyad/base/error.hpp"
#include "polyad/io/label_files.hpp"
#include "polyad/io/output_file.hpp"

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

void write_text(const std::filesystem::path& path, const std::string& text) {
  io::OutputFile file(path);
  file.write(text);
  file.commit();
}

void check_place(const std::filesystem::path& path, std::filesystem::file_type wanted) {
  using Type = std::filesystem::file_type;
  std::error_code ignored;
  const auto name = std::filesystem::absolute(path.has_filename() ? path : path.parent_path(), ignored);
  const auto found = std::filesystem::status(name, ignored).type();
  const auto folder =
      found == Type::directory ? name : std::filesystem::weakly_canonical(name, ignored).parent_path();
  const bool is_stream = found != Type::not_found && found != Type::regular && found != Type::directory;
  int error = 0;
  if (found == Type::directory && wanted != Type::directory)
    error = EISDIR;
  else if (found == Type::regular && wanted == Type::directory)
    error = ENOTDIR;
  else if (!is_stream && access((folder / ".").c_str(), W_OK | X_OK) != 0)
    error = errno;
  if (error != 0)
    throw Error(Errc::io, "cannot be written: " + std::generic_category().message(error), {path.string(), 0});
}

void check_distinct(const std::vector<std::string>& paths) {
  for (std::size_t a = 0; a < paths.size(); ++a)
    for (std::size_t b = a + 1; b < paths.size(); ++b) {
      std::error_code ignored;
      const bool both = !paths[a].empty() && !paths[b].empty();
      const bool same = both && std::filesystem::weakly_canonical(paths[a], ignored) ==
                                    std::filesystem::weakly_canonical(paths[b], ignored);
      if (same && std::filesystem::status(paths[b], ignored).type() != std::filesystem::file_type::character)
        throw Error(Errc::bad_option,
                    fmt::format("{} would be overwritten by what is written to {}", paths[a], paths[b]));
    }
}

}  // namespace polyad::cli
