#pragma once

#include <string>
#include <vector>

namespace polyad::tasks {

// For plans: throws Error{bad_option} unless there are 1 to 100 numbers, each from 1 to `largest`.
void check_counts(const std::string& field, const std::vector<int>& counts, int largest);

// Each once.
std::vector<int> ascending(std::vector<int> counts);

}  // namespace polyad::tasks
