#pragma once

#include <filesystem>
#include <string_view>

#include "polyad/io/bytes/input_file.hpp"

namespace polyad::io {

// The path that stands for standard input, "-"; a file of that name is ./-.
bool is_standard_input(const std::filesystem::path& path);

// A file, or what standard input delivers up to its end. That is copied to a temporary file without a name
// when it is first opened, because files are read more than once and at any position; it has the path "-".
// A table of Parquet or Arrow is replaced by a copy as csv (columnar_file.hpp).
InputFile open_input(const std::filesystem::path& path);

// For processes whose standard input another one has read: instead of their own, these bytes, which may come
// in several parts. At least one part, possibly empty, must come before it is opened.
void receive_standard_input(std::string_view part);

}  // namespace polyad::io
