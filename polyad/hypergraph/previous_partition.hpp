#pragma once

#include <span>
#include <vector>

#include "polyad/hypergraph/balance.hpp"

namespace polyad::hypergraph {

// The part of a vertex that is not in the previous partition.
inline constexpr int new_vertex = -1;

// Assigns every new vertex to the part that most of its neighbours have, if the balance permits.
std::vector<int> place_new_vertices(const Hypergraph& h, std::span<const int> previous,
                                    const PartLimits& limits);

// Parts of slices, mode by mode, of a tensor whose modes have
// grown since the previous partition: new_vertex for new slices.
std::vector<int> parts_of_grown_modes(std::span<const int> previous, std::span<const Index> previous_extents,
                                      std::span<const Index> extents);

}  // namespace polyad::hypergraph
