#pragma once

#include <string>

#include "polyad/algo/analysis/count_evidence.hpp"

namespace polyad::report {

// A table for people: its head, and the line of one number of components.
std::string rank_table_head();
std::string rank_table_line(const CountEvidence& evidence);

}  // namespace polyad::report
