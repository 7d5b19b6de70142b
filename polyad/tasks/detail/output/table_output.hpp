#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

#include "polyad/io/bytes/output_file.hpp"
#include "polyad/io/text/line_writer.hpp"

namespace polyad::tasks {

// What separates the columns of a table, by the name of its file: .tsv or .csv, and .gz behind. An empty name
// means tabs. Throws Error{bad_option}, which names the option `out`, for any other name.
char table_separator(const std::filesystem::path& out);

// Where the text of a table goes: to a file, which appears under its name only when it is complete, or, where
// the name is empty, to a function.
class TableOutput {
 public:
  TableOutput(const std::filesystem::path& out, io::WriteText otherwise);
  void write(std::string_view text);
  void commit();

 private:
  std::optional<io::OutputFile> file_;
  io::WriteText otherwise_;
};

}  // namespace polyad::tasks
