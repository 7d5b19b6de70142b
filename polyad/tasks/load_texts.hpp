#pragma once

#include <string>
#include <vector>

#include "polyad/tasks/load.hpp"

namespace polyad {

// LoadOptions as people write them, for interfaces that take them as texts. Empty: not given.
struct LoadTexts {
  std::string format;          // a name of io::all_formats
  int index_base = -1;         // -1: not given
  std::string dims;            // "30x24x659"
  std::string columns, value;  // of a table
  io::TableForm table;
  std::string duplicates, transform;  // names, as to_string has them
  std::string min_count;              // "5" or "5,5,1"
  std::vector<std::string> labels;    // "MODE=FILE" with the mode from 1, a folder, or "none"
  bool dense_zeros = false;
};

// What they mean. Throws Error{bad_option} for nonsense, but takes a name of no rule and no transform for the
// first of them.
LoadOptions load_options(const LoadTexts& texts);

// Those that were given, as the commands of the program take them: {"--dims", "30x24x659"}; for
// PlanOptions::input_arguments.
std::vector<std::string> given_options(const LoadTexts& texts);

// What `labels` means.
LabelSources parse_label_sources(const std::vector<std::string>& labels);

}  // namespace polyad
