#pragma once

#include <optional>
#include <string>

#include "polyad/base/types.hpp"

namespace polyad::io {

// The form of a table: a text with one line per entry and the same columns on every line. What is not stated
// is recognised by content.
struct TableForm {
  // Whether the first line names the columns. Nothing: decided by comparing it with the lines below. Columns
  // of a table without a header are called 1, 2, 3, ...
  std::optional<bool> header = {};
  // What separates the columns: one character, "::", or " " for any number of blanks and tabs. Empty:
  // recognised among tab, "::", ";", "|", "," and blanks.
  std::string separator = {};
  // Whether values are written as 3,5 instead of 3.5 (default: no). Requires another separator than a comma.
  bool decimal_comma = false;
  // Whether quoted fields may contain line breaks, which become blanks (default: no). Such a file is scanned
  // by every process from its beginning.
  bool multiline = false;
  // Only lines of so many fields are read, and others are left out, as where facts of several arities are in
  // one file (default 0: all lines, and it is an error if one has more or fewer fields than the first).
  Index fields = 0;
  // Wide tables: the value that stands for a missing one, as 99 does in Jester. Empty cells, NA and nan are
  // always missing.
  std::optional<double> missing = {};

  friend bool operator==(const TableForm&, const TableForm&) = default;
};

}  // namespace polyad::io
