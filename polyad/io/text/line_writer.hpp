#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "polyad/base/types.hpp"

namespace polyad::io {

using WriteText = std::function<void(std::string_view)>;      // where text goes
using AppendLine = std::function<void(std::string&, Index)>;  // the line of one nonzero

// Writes `count` lines in order. All threads print, each its part of some.
void write_lines(const WriteText& write, Index count, const AppendLine& append_line);

// A field of a table whose columns are separated by commas or tabs, in quotes where it would be misread
// without.
void append_field(std::string& out, std::string_view field, char separator);

}  // namespace polyad::io
