#pragma once

#include "polyad/hypergraph/partitioner.hpp"

namespace polyad {

// Zoltan's PHG as another partitioner, where the build found the library (cmake -DPOLYAD_ZOLTAN=OFF: never).
bool has_zoltan();
inline constexpr const char* no_zoltan =
    "this build has no Zoltan: cmake finds it where it is installed (Debian's package "
    "libtrilinos-zoltan-dev) "
    "and MPI is used";

// Connectivity - 1 and one weight per vertex are what it knows: throws Error{bad_option} for more, and where
// there is no Zoltan in this build. The parts are its own, unmended; it runs on this process and one thread.
// Starts, older partitions, shares, efforts and time limits are not for it.
PartitionResult partition_by_zoltan(const Hypergraph& h, const PartitionOptions& options);

}  // namespace polyad
