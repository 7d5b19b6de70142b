#pragma once

#include <filesystem>
#include <string>

#include "polyad/tasks/context.hpp"
#include "polyad/tasks/tensor.hpp"

namespace polyad::tasks {

[[noreturn]] void refuse_option(const std::string& message);  // throws Error{bad_option}

// Throws Error{bad_option} when the context has several processes. `task` is what messages call the task.
void require_one_process(const Context& context, const std::string& task);

// Throws Error{bad_option} unless the context has as many processes as hold a model.
void require_processes_of(const Context& context, const Comm& model);

// Throws Error{bad_option} unless the option partition_file names a file if and only if one is read.
void require_partition_file(bool is_read, const std::filesystem::path& file);

// Throws Error{bad_option} for a limit of memory below 0.
void require_memory_limit(Index max_memory_bytes);

// Throws Error{bad_option} unless the value is finite and 0 or more.
void require_not_negative(const char* field, double value);

// Throws Error{bad_option} for a number of random starts that is not from 1 to max_starts.
void require_num_starts(int num_starts);

// Throws Error{bad_option} for a value that is no enumerator of an enum whose last one is `last`.
template <class Enum>
void require_enumerator(const char* field, Enum value, Enum last) {
  if (int(value) < 0 || int(value) > int(last))
    refuse_option(option_name(field) + " " + std::to_string(int(value)) + ": expected a value of its enum");
}

// Throws Error{bad_input} unless Polyad takes tensors of that order. A tensor that was moved from has order
// 0.
void require_order(int order);

// Warns that duplicate coordinates of a tensor were added up, if there were any and lines were not to be
// counted.
void warn_of_duplicates(const Context& context, const Tensor& x, Index count);

}  // namespace polyad::tasks
