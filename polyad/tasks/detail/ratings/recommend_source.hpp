#pragma once

#include "polyad/tasks/recommend.hpp"

namespace polyad::tasks {

// Throws Error{bad_option} for options that are for CP models only.
void refuse_decomposition_options(const RecommendOptions& options);

}  // namespace polyad::tasks
