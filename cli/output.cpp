#include "cli/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "polyad/base/error.hpp"
#include "polyad/io/kruskal.hpp"
#include "polyad/io/label_files.hpp"
#include "polyad/io/output_file.hpp"
#include "polyad/io/rating_model_file.hpp"

namespace polyad::cli {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw Error(Errc::bad_option, why);
}

// Streams, as /dev/null is one, keep nothing that could be overwritten.
bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  if (a.empty() || b.empty()) return false;
  return std::filesystem::weakly_canonical(a, ignored) == std::filesystem::weakly_canonical(b, ignored) &&
         std::filesystem::status(a, ignored).type() != std::filesystem::file_type::character;
}

// Whether a path names, or would add, a part of the model in a directory: factors, labels or the summary.
bool is_part_of_model(const std::string& path, const std::string& directory) {
  std::error_code ignored;
  if (path.empty() || directory.empty()) return false;
  const auto whole = std::filesystem::weakly_canonical(path, ignored);
  const auto name = whole.filename();
  // Without a trailing slash, which a directory may have been given with.
  const auto folder = (std::filesystem::weakly_canonical(directory, ignored) / "").parent_path();
  return whole.parent_path() == folder &&
         (io::is_part_of_splatt_model(name) || io::is_part_of_rating_model(name) || io::is_label_file(name) ||
          name == "summary.json");
}

}  // namespace

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

void check_distinct(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs) {
  for (std::size_t a = 0; a < outputs.size(); ++a) {
    const auto& output = outputs[a];
    for (const auto& input : inputs) {
      if (is_same_file(output.path, input.path))
        refuse(fmt::format("{} {} would overwrite {}", output.name, output.path, input.name));
      if (is_part_of_model(output.path, input.path))
        refuse(fmt::format("{} {} would overwrite a part of {}", output.name, output.path, input.name));
    }
    for (std::size_t b = 0; b < outputs.size(); ++b) {
      if (b > a && is_same_file(output.path, outputs[b].path))
        refuse(fmt::format("{} and {} would both write {}", output.name, outputs[b].name, output.path));
      if (is_part_of_model(output.path, outputs[b].path))
        refuse(fmt::format("{} {} would overwrite a part of what {} writes", output.name, output.path,
                           outputs[b].name));
    }
  }
}

}  // namespace polyad::cli
