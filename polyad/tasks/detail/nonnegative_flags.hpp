#pragma once

#include <vector>

namespace polyad::tasks {

// [mode]: whether its factor has no negative entries, by the options `nonnegative` and `nonnegative_modes`;
// empty where no factor is constrained. Throws Error{bad_option} for a mode that does not exist.
std::vector<bool> nonnegative_flags(bool all, const std::vector<int>& modes, int order);

}  // namespace polyad::tasks
