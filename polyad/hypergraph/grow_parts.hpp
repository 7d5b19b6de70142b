#pragma once

#include <cstdint>
#include <vector>

#include "polyad/hypergraph/balance.hpp"

namespace polyad::hypergraph {

// Parts that are grown one after the other, each from a random vertex by those that small nets join to it:
// groups that hardly touch each other are found whole, which moving single vertices from a random start
// does not do. For the coarsest level: it is serial.
std::vector<int> grow_parts(const Hypergraph& h, const PartLimits& limits, std::uint64_t seed);

}  // namespace polyad::hypergraph
