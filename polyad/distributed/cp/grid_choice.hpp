#pragma once

#include <span>
#include <vector>

#include "polyad/comm/process_grid.hpp"
#include "polyad/distributed/cp/slice_profile.hpp"

namespace polyad {

// SPLATT's grid: prime factors of num_parts, largest first, each to the mode whose rows per layer are
// furthest above sum(rows) / num_parts.
GridShape splatt_grid(std::span<const Index> rows, int num_parts);

// The grids that seed 001 looks at (its Algorithm 2, any order): all but the `num_free_primes` smallest
// prime factors are given to the longest mode, which is then taken to be shorter by the mean length; the rest
// in every distinct way. With fewer primes, every grid.
std::vector<GridShape> candidate_grids(std::span<const Index> rows, int num_parts, int num_free_primes = 2);

// The mean over the modes of (max - min) / max of the nonzeros per layer, when layers have equal rows: what
// seed 001 chooses by. Collective, as profiles are.
double layer_imbalance(std::span<const SliceProfile> profiles, const GridShape& grid);

// The candidate with the least of it. Collective.
GridShape predicted_grid(std::span<const SliceProfile> profiles, int num_parts, int num_free_primes = 2);

}  // namespace polyad
