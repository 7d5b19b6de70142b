#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "polyad/tasks/load.hpp"
#include "polyad/tasks/task_result.hpp"

namespace polyad {

struct LookOptions {
  LoadOptions load = {};
  Index num_lines = 5;  // of the file to show, from 0 to 500
};

// What a column of a text seems to contain, judged by its first 500 lines and, if it is not compressed, some
// of its last.
struct SeenColumn {
  std::string name;        // from the header, or its number
  std::string content;     // "names", "dates", "seconds since 1970", "values", ...
  Index num_distinct = 0;  // different fields among those looked at
  std::vector<std::string> examples;
};

// What a look at the beginning of a file shows.
class FileLook : public TaskResult {
 public:
  FileLook(TaskResult texts, std::vector<SeenColumn> columns, std::string suggested_columns,
           std::string suggested_value)
      : TaskResult(std::move(texts)),
        columns_(std::move(columns)),
        suggested_columns_(std::move(suggested_columns)),
        suggested_value_(std::move(suggested_value)) {}

  // Empty for files that are no lines of columns.
  const std::vector<SeenColumn>& columns() const { return columns_; }
  // What LoadOptions::columns and LoadOptions::value could be; empty if the file needs none.
  const std::string& suggested_columns() const { return suggested_columns_; }
  const std::string& suggested_value() const { return suggested_value_; }

 private:
  std::vector<SeenColumn> columns_;
  std::string suggested_columns_, suggested_value_;
};

// Throws Error{bad_option} for options that make no sense whatever the file.
void validate(const LookOptions& options);

// Looks at the beginning of a file, of several the first: its format, its first lines, what each column seems
// to contain, and how it could be read. A file that load refuses for want of options is no error here.
// Requires a context of one process.
FileLook look(const Context& context, const TensorFiles& files, const LookOptions& options = {});

}  // namespace polyad
