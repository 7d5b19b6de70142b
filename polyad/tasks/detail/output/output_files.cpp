#include "polyad/tasks/detail/output/output_files.hpp"

#include <fmt/format.h>

#include <system_error>

#include "polyad/base/error.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/io/bytes/output_file.hpp"

namespace polyad::tasks {

void write_text(const std::filesystem::path& path, const std::string& text) {
  io::OutputFile file(path);
  file.write(text);
  file.commit();
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

}  // namespace polyad::tasks
