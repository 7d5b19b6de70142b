#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "polyad/base/types.hpp"

namespace polyad::io {

using WriteText = std::function<void(std::string_view)>;      // where text goes
using AppendLine = std::function<void(std::string&, Index)>;  // the line of one nonzero

// Writes `count` lines in order. All threads format lines, each a part of those that are formatted at a time:
// max_text_bytes together.
void write_lines(const WriteText& write, Index count, const AppendLine& append_line);

// A field of a table whose columns are separated
// by commas or tabs, quoted if necessary.
void append_field(std::string& out, std::string_view field, char separator);

}  // namespace polyad::io
