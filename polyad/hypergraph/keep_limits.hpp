#pragma once

#include <vector>

#include "polyad/hypergraph/balance.hpp"
#include "polyad/hypergraph/metrics.hpp"

namespace polyad::hypergraph {

// Brings parts within their limits: by moves that cost little, by exchanges, and where these do not suffice
// by distributing vertices anew, the heaviest first, each to its part if that has room; at last regardless of
// nets. Where even this fails, the most even of these partitions is taken.
void keep_limits(const Hypergraph& h, std::vector<int>& parts, const PartLimits& limits,
                 const Objective& objective);

}  // namespace polyad::hypergraph
