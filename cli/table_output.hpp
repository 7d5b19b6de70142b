#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "polyad/io/bytes/output_file.hpp"

namespace polyad::cli {

// What separates the columns of a table, by the name of its file: .tsv or .csv, and .gz behind. An empty name
// is standard output, with tabs. Throws Error{bad_option} for any other name.
char table_separator(const std::string& out);

// Where a table goes: standard output when no name is given, where only printable characters are shown, or a
// file, which appears under its name only when it is complete.
class TableOutput {
 public:
  explicit TableOutput(const std::string& out);
  void write(std::string_view text);
  void commit();

 private:
  std::optional<io::OutputFile> file_;
};

}  // namespace polyad::cli
