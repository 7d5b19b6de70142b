#pragma once

#include "polyad/hypergraph/partitioner.hpp"

namespace polyad::hypergraph {

// Partitioners of other projects, if the build found their libraries. Their parts are used
// unchanged. The options `starts`, `previous`, `shares`, `effort` and time limits are not supported.

// Whether Zoltan is built in; cmake -DPOLYAD_ZOLTAN=OFF disables it.
bool has_zoltan();
inline constexpr const char* no_zoltan =
    "this build has no Zoltan: cmake finds it where it is installed (Debian's package "
    "libtrilinos-zoltan-dev) and MPI is used";
// Partitions with PHG of Zoltan, on this process and one thread.
PartitionResult partition_by_zoltan(const Hypergraph& h, const PartitionOptions& options);

// Whether Mt-KaHyPar is built in; cmake -DPOLYAD_MT_KAHYPAR=OFF disables it.
bool has_mt_kahypar();
inline constexpr const char* no_mt_kahypar =
    "this build has no Mt-KaHyPar: cmake finds it where its library and mtkahypar.h are installed";
// Partitions with its preset `default`, above 256 parts `large_k`, which a
// library may lack. Uses all threads; the result is then not reproducible.
PartitionResult partition_by_mt_kahypar(const Hypergraph& h, const PartitionOptions& options);

// Checks the limits of external partitioners: connectivity - 1 as the metric, one weight
// per vertex, 31-bit numbers. Throws Error{bad_option} or Error{resource} otherwise.
void check_outside(const std::string& name, const Hypergraph& h, const PartitionOptions& options);

}  // namespace polyad::hypergraph
