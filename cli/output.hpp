#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "cli/file_plan.hpp"
#include "polyad/io/read_tensor.hpp"
#include "polyad/io/write_tensor.hpp"

namespace polyad::cli {

// Writes a tensor with its labels: inside the file where its format holds them, else beside it, and
// nothing at all when other labels lie there. Returns the label files written.
std::vector<std::filesystem::path> save(const std::filesystem::path& path, const io::LoadedTensor& loaded,
                                        const io::WriteOptions& options, Console& console);

// Writes a whole text, under its name only when it is complete.
void write_text(const std::filesystem::path& path, const std::string& text);

// --force: files that exist may be replaced by outputs that take the place of data.
void add_force_option(CLI::App& command, bool& force);
io::Existing existing(bool force);

// Throws Error{resource} when an output of about so many bytes does not fit on its file system, as far as
// that is known. `what` says what would be written, as in "--out would write about".
void require_space(const std::filesystem::path& path, double bytes, const std::string& what);

}  // namespace polyad::cli
