#pragma once

#include <cstdint>
#include <vector>

#include "polyad/hypergraph/balance.hpp"

namespace polyad::hypergraph {

// Grows parts one after another, each from a random vertex along small nets.
// This finds groups with few nets between them, which moving single vertices
// from a random partition does not. Serial; for the coarsest level.
std::vector<int> grow_parts(const Hypergraph& h, const PartLimits& limits, std::uint64_t seed);

}  // namespace polyad::hypergraph
