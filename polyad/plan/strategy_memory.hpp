#pragma once

#include <optional>

#include "polyad/plan/choose_distribution.hpp"
#include "polyad/plan/format_choice.hpp"

namespace polyad {

// Predicted memory of the process that needs the most, in this format ("auto": the one that cpd chooses).
// Uses counts of nonzeros and rows only; for what they do not determine (shared fibers, blocks) it assumes
// the worst. max_bytes 0: no limit. num_vectors: vectors as long as all factors that the method needs.
MemoryNeed memory_need(const PartLoads& loads, Scheme scheme, Index num_components, Index max_bytes,
                       const std::string& format = "auto", const CostOptions& run = {},
                       Index num_vectors = 0);

}  // namespace polyad
