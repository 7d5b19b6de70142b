#pragma once

#include "cli/console.hpp"
#include "polyad/io/read_tensor.hpp"

namespace polyad::cli {

// Warns where a run took more memory than --memory allows, though it was predicted to fit. 0: no limit.
void warn_of_memory(const Console& console, Index peak_bytes, Index max_bytes);

// What this process holds besides the program and the nonzeros that it has read: labels above all. Gives back
// what reading no longer needs.
Index bytes_beside(const io::LoadedTensor& loaded);
// The most that reading took, less what the program takes.
Index bytes_of_reading();

}  // namespace polyad::cli
