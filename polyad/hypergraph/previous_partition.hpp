#pragma once

#include <span>
#include <vector>

#include "polyad/hypergraph/balance.hpp"

namespace polyad::hypergraph {

// The part of a vertex that an older partition does not know.
inline constexpr int new_vertex = -1;

// Gives every new vertex the part that most of its neighbours have, where there is room for it.
std::vector<int> place_new_vertices(const Hypergraph& h, std::span<const int> older,
                                    const PartLimits& limits);

// Parts of slices, mode after mode, of a tensor whose modes have grown from the older extents: new_vertex
// for the slices that are new.
std::vector<int> parts_of_grown_modes(std::span<const int> older, std::span<const Index> older_extents,
                                      std::span<const Index> extents);

}  // namespace polyad::hypergraph
