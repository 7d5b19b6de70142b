#pragma once

#include "polyad/hypergraph/partitioner.hpp"

namespace polyad::hypergraph {

// Halves of halves instead of all parts at once: how seed 004 reduces the sum of lambda^rho. A net that
// touches lambda parts costs (lambda + 1)^rho - lambda^rho when it is cut once more (2^rho the first time),
// so that bisection follows bisection, breadth first; each is multilevel and has all threads. The number of
// parts need not be a power of two. Starts, older partitions and shares are not for this method.
PartitionResult bisect_recursively(const Hypergraph& h, const PartitionOptions& options);

}  // namespace polyad::hypergraph
