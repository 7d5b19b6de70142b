#pragma once

#include <string>
#include <vector>

#include "polyad/tasks/detail/look/seen_file.hpp"
#include "polyad/tasks/detail/source_files.hpp"

namespace polyad::tasks {

// How a file could be read.
struct ReadingSuggestion {
  std::string columns, value;  // empty if it needs none
  std::string missing;         // of a wide table: the value of missing cells, as 99 of Jester
  bool is_wide = false;
  bool is_possible = true;  // false: its columns make no tensor
};
ReadingSuggestion suggest_reading(const SeenFile& seen);

// Commands that read the files so; none if no options would.
std::vector<std::string> reading_commands(const SourceFiles& source, const SeenFile& seen,
                                          const ReadingSuggestion& suggestion);

}  // namespace polyad::tasks
