#include "polyad/tasks/detail/output/model_output.hpp"

#include <fmt/format.h>

#include "polyad/base/error.hpp"

namespace polyad::tasks {

io::KruskalFormat model_format(const std::filesystem::path& path) {
  if (const auto format = io::kruskal_format_by_extension(path)) return *format;
  throw Error(Errc::bad_option,
              fmt::format("{} {}: expected a directory, or a file that ends in .ktensor or .npz",
                          option_name("out"), path.string()));
}

}  // namespace polyad::tasks
