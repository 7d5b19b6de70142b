#pragma once

#include "polyad/io/tensors/loaded_tensor.hpp"
#include "polyad/tasks/context.hpp"

namespace polyad::tasks {

// What this process holds besides the program and the nonzeros that it has read: labels above all. Gives back
// what reading no longer needs.
Index bytes_beside(const io::LoadedTensor& loaded);
// The most that reading took, less what the program takes.
Index bytes_of_reading();

}  // namespace polyad::tasks
