#pragma once

#include "polyad/base/memory.hpp"
#include "polyad/io/tensors/loaded_tensor.hpp"
#include "polyad/tasks/context.hpp"

namespace polyad::tasks {

// What this process holds besides the program and the nonzeros that it has read: labels above all. Gives back
// what reading no longer needs.
Index bytes_beside(const io::LoadedTensor& loaded);
// The most memory that a piece of work takes, less what the program takes. Where the process took more before
// the work began than during it, this is unknown: then what is in use at the end.
class WatchedMemory {
 public:
  // At the end of the work, in bytes.
  Index most() const;
  // Whether the work has taken more than this process took before.
  bool has_grown() const;

 private:
  Index before_ = peak_memory_bytes();
};

}  // namespace polyad::tasks
