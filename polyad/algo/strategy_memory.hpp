#pragma once

#include <optional>

#include "polyad/dist/part_loads.hpp"
#include "polyad/kernels/format_choice.hpp"

namespace polyad {

// What the process that needs most is predicted to take, in the format that cpd would choose: from counts of
// nonzeros and rows alone, so that of what is not known (shared fibers, blocks) there is as much as can be.
struct MemoryNeed {
  Index bytes = 0;
  bool fits = true;  // into max_bytes; 0: no limit
};
MemoryNeed memory_need(const PartLoads& loads, Scheme scheme, Index num_components, Index max_bytes);

}  // namespace polyad
