#pragma once

#include <optional>
#include <span>
#include <vector>

#include "polyad/comm/process_grid.hpp"
#include "polyad/distributed/cp/slice_profile.hpp"

namespace polyad {

// SPLATT's grid: prime factors of num_parts, largest first, each to the mode whose rows per layer are
// furthest above sum(rows) / num_parts.
GridShape splatt_grid(std::span<const Index> rows, int num_parts);

// Candidate grids of Miao et al. 2023, Algorithm 2, for any order: each prime factor of
// num_parts except the `num_free_primes` smallest goes to the longest mode, whose length then
// drops by the mean length; the rest in every distinct way. With fewer prime factors, all grids.
std::vector<GridShape> candidate_grids(std::span<const Index> rows, int num_parts, int num_free_primes = 2);

// Where a number of parts has a prime factor above 7, grids that use them all are long in one mode: the
// largest smaller number without such a factor, whose grids leave a few parts without nonzeros. Else nothing.
std::optional<int> number_with_small_factors(int num_parts);

// The grids that differ by one prime factor of the number of parts, which divides another mode instead.
std::vector<GridShape> neighbouring_grids(const GridShape& grid);

// Mean over the modes of (max - min) / max of the nonzeros per layer, for layers with equal numbers of rows:
// the criterion of Miao et al. 2023, Algorithm 2. Collective, as profiles are.
double layer_imbalance(std::span<const SliceProfile> profiles, const GridShape& grid);

// The candidate grid with the smallest layer_imbalance. Collective.
GridShape predicted_grid(std::span<const SliceProfile> profiles, int num_parts, int num_free_primes = 2);

}  // namespace polyad
