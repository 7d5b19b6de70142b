#pragma once

#include "polyad/hypergraph/partitioner.hpp"

namespace polyad::hypergraph {

// Partitioners of others, where the build found their libraries. Their parts are taken as they are, unmended.
// Starts, older partitions, shares, efforts and time limits are not for them.

// cmake -DPOLYAD_ZOLTAN=OFF: never.
bool has_zoltan();
inline constexpr const char* no_zoltan =
    "this build has no Zoltan: cmake finds it where it is installed (Debian's package "
    "libtrilinos-zoltan-dev) and MPI is used";
// By its PHG, on this process and one thread.
PartitionResult partition_by_zoltan(const Hypergraph& h, const PartitionOptions& options);

// cmake -DPOLYAD_MT_KAHYPAR=OFF: never.
bool has_mt_kahypar();
inline constexpr const char* no_mt_kahypar =
    "this build has no Mt-KaHyPar: cmake finds it where its library and mtkahypar.h are installed";
// By its preset default, above 256 parts by large_k, which a library may lack. With all threads, and then
// not the same again.
PartitionResult partition_by_mt_kahypar(const Hypergraph& h, const PartitionOptions& options);

// What they know is connectivity - 1, one weight per vertex, and numbers of 31 bits: throws Error{bad_option}
// or Error{resource} for more.
void check_outside(const std::string& name, const Hypergraph& h, const PartitionOptions& options);

}  // namespace polyad::hypergraph
