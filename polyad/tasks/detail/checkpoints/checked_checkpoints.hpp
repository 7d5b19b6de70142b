#pragma once

#include <filesystem>
#include <optional>

#include "polyad/tasks/check.hpp"

namespace polyad::tasks {

// What the checkpoints of a directory, or the one that it is, hold, and what is wrong with them. Nothing for
// a path that is neither.
std::optional<CheckedFile> check_checkpoints(const std::filesystem::path& path);

}  // namespace polyad::tasks
