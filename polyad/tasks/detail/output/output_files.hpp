#pragma once

#include <filesystem>
#include <string>

namespace polyad::tasks {

// Writes a whole text, under its name only when it is complete.
void write_text(const std::filesystem::path& path, const std::string& text);

// Throws Error{resource} when an output of about so many bytes does not fit on its file system, as far as
// that is known. `what` says what would be written, as in "the model would take about".
void require_space(const std::filesystem::path& path, double bytes, const std::string& what);

}  // namespace polyad::tasks
