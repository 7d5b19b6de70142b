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

// A file that a command reads or writes, and what to call it: "the input", "--out". An empty path is none.
struct NamedPath {
  std::string name, path;
};

// Throws Error{bad_option} when an output would take the place of an input or of another output, or of a part
// of the model that is a directory among them.
void check_distinct(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs);

}  // namespace polyad::cli
