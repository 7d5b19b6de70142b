#pragma once

#include <string>

#include "polyad/tasks/context.hpp"

namespace polyad::tasks {

[[noreturn]] void refuse_option(const std::string& message);  // throws Error{bad_option}

// Throws Error{bad_option} when the context has several processes. `task` is what messages call the task.
void require_one_process(const Context& context, const std::string& task);

// Throws Error{bad_input} unless Polyad takes tensors of that order. A tensor that was moved from has order
// 0.
void require_order(int order);

// Warns that duplicate coordinates of a tensor were added up, if there were any. `path` is empty for a tensor
// that was not read from a file.
void warn_of_duplicates(const Context& context, const std::string& path, Index count);

}  // namespace polyad::tasks
