#pragma once

#include <optional>

#include "polyad/plan/choose_distribution.hpp"
#include "polyad/plan/format_choice.hpp"

namespace polyad {

// What the process that needs most is predicted to take, in this format (auto: that which cpd would choose):
// from counts of nonzeros and rows alone, so that of what is not known (shared fibers, blocks) there is as
// much as can be. max_bytes 0: no limit. num_vectors: as long as all factors, which the method needs besides.
MemoryNeed memory_need(const PartLoads& loads, Scheme scheme, Index num_components, Index max_bytes,
                       const std::string& format = "auto", const CostOptions& run = {},
                       Index num_vectors = 0);

}  // namespace polyad
