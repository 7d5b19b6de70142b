#pragma once

#include <filesystem>

#include "polyad/io/models/kruskal.hpp"

namespace polyad::tasks {

// The format of a model that is written under this name. Throws Error{bad_option} for a name that means none.
io::KruskalFormat model_format(const std::filesystem::path& path);

}  // namespace polyad::tasks
