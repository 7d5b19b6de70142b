#pragma once

#include "polyad/hypergraph/partitioner.hpp"

namespace polyad::hypergraph {

// Recursive bisection for the sum of lambda^rho (Abubaker et al. 2023, Algorithm 3). Cutting a net
// that touches lambda parts once more costs (lambda + 1)^rho - lambda^rho, the first time 2^rho.
// Bisections run breadth-first, one by one, each multilevel and with all threads. The number of
// parts need not be a power of two. The options `starts`, `previous` and `shares` are not supported.
PartitionResult bisect_recursively(const Hypergraph& h, const PartitionOptions& options);

}  // namespace polyad::hypergraph
