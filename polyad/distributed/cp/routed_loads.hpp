#pragma once

#include <span>

#include "polyad/comm/comm.hpp"
#include "polyad/distributed/cp/part_loads.hpp"
#include "polyad/distributed/cp/row_parts.hpp"
#include "polyad/distributed/virtual_topology.hpp"

namespace polyad {

// The loads of a mode whose rows go by a topology, from its loads if they go directly: what is sent, received
// and held is counted again, stage by stage. Every process knows the parts that touch some of the rows, which
// together are this fraction of all. Collective.
ModeLoads routed_loads(const Comm& comm, const RowParts& rows, std::span<const int> owners, bool folds,
                       double fraction, const VirtualTopology& topology, ModeLoads direct);

}  // namespace polyad
