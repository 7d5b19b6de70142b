#pragma once

#include <span>
#include <string>

#include "polyad/tasks/load.hpp"

namespace polyad::tasks {

// Throws Error{bad_option} for rules that make no sense whatever the tensor.
void check_value_options(const LoadOptions& options);

// The options of ratings, of which the last counts unless they say otherwise. Where nothing is prepared,
// complete itself keeps the last.
LoadOptions rating_options(LoadOptions options);

// Whether the options ask for anything that prepare_values does.
bool prepares_values(const LoadOptions& options);

// Combines duplicates, transforms values and removes rare slices, as the options say. Labels of removed
// slices are removed with their indices. Returns the number of duplicates. Throws Error{bad_input} for values
// that the transform does not take, and for duplicates that are to be refused. Collective.
Index prepare_values(const Context& context, Tensor& x, const LoadOptions& options);

// The same for nonzeros of this process in the space of a model: slices stay. `path` is for messages.
void prepare_local_values(SparseTensor<double>& x, const LoadOptions& options, const std::string& path);

// Throws Error{bad_input} if there are any.
void refuse_duplicates(Index count, const std::string& path);

// Throws Error{bad_input} for a value that has no result, or was not finite before.
void transform_all(std::span<double> values, Transform transform, const std::string& path);

}  // namespace polyad::tasks
