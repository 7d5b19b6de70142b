#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "polyad/io/read_tensor.hpp"
#include "polyad/io/write_tensor.hpp"

namespace polyad::cli {

// Writes a tensor with its labels: inside the file where its format holds them, else beside it, and
// nothing at all when other labels lie there. Returns the label files written.
std::vector<std::filesystem::path> save(const std::filesystem::path& path, const io::LoadedTensor& loaded,
                                        const io::WriteOptions& options, Console& console);

// Writes a whole text, under its name only when it is complete.
void write_text(const std::filesystem::path& path, const std::string& text);

// Throws the error that writing there would end in: to be told before the work, not after it. `wanted` is
// a directory or a regular file.
void check_place(const std::filesystem::path& path, std::filesystem::file_type wanted);

// Throws Error{bad_option} when an output would take the place of the input or of another. Empty paths are
// none.
void check_distinct(const std::vector<std::string>& paths);

}  // namespace polyad::cli
