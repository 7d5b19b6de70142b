#pragma once

#include <span>
#include <string>

#include "polyad/tasks/context.hpp"

namespace polyad::tasks {

// Warns where training ratings look like something else than ratings: all are equal, or they are counts.
// `own`: those of this process; `path`: of their file, or empty. Collective.
void warn_of_values(const Context& context, std::span<const double> own, const std::string& path);

}  // namespace polyad::tasks
