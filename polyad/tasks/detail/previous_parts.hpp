#pragma once

#include <string>
#include <vector>

#include "polyad/tasks/partition.hpp"

namespace polyad::tasks {

// The parts in options.previous_file, with hypergraph::new_vertex for what is new since; empty where no file
// is given. Both throw Error{bad_input} for a file that does not fit.

// The previous parts for the current number of vertices: those after the end of the file are new. `thing`:
// what a vertex is, for messages.
std::vector<int> previous_parts(const PartitionOptions& options, Index num_things, const std::string& thing);

// Of the slices of a tensor, mode after mode: where a mode has grown since options.previous_dims, its last
// slices are new. Throws Error{bad_option} for dims that the tensor cannot have grown from.
std::vector<int> previous_slices(const PartitionOptions& options, const std::vector<Index>& dims);

}  // namespace polyad::tasks
