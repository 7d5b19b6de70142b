#pragma once

#include "polyad/base/types.hpp"

namespace polyad::test {

// The memory of the emulated GPU, in bytes. What is taken beyond its size is refused as a GPU does it.
struct EmulatedMemory {
  Index size = 0;
  Index in_use = 0, most_in_use = 0;
};
EmulatedMemory& emulated_memory();

}  // namespace polyad::test
