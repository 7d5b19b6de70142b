#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "polyad/base/types.hpp"
#include "polyad/comm/process_grid.hpp"
#include "polyad/dense/cyclic_range.hpp"

namespace polyad::dense {

// How the indices of a tensor mode are distributed over a grid d_0 x ... x d_{g-1} (Schatz 2013, Definition
// 7): with the grid modes <h_0, h_1, ...>, index j is on the processes with
//   j = p_{h_0} + p_{h_1} d_{h_0} + p_{h_2} d_{h_0} d_{h_1} + ... + alignment  (mod d_{h_0} d_{h_1} ...).
// Without grid modes, every process holds all indices.
struct ModeDistribution {
  std::vector<int> grid_modes;
  Index alignment = 0;

  friend auto operator<=>(const ModeDistribution&, const ModeDistribution&) = default;
};

// The processes with this coordinate in a mode of the grid.
struct Hyperplane {
  int grid_mode = 0, coord = 0;

  friend auto operator<=>(const Hyperplane&, const Hyperplane&) = default;
};

// Distribution of a dense tensor on a process grid. Needs no processes.
struct TensorDistribution {
  std::vector<ModeDistribution> modes;
  std::vector<Hyperplane> held_on;  // processes outside hold nothing
  std::vector<int> summed_over;     // grid modes over whose processes an element must still be summed

  int order() const { return int(modes.size()); }
  friend auto operator<=>(const TensorDistribution&, const TensorDistribution&) = default;
};

// Number of parts of a mode, and the indices of it that a process holds.
Index num_parts(const ModeDistribution& mode, const GridShape& grid);
CyclicRange range_of(const ModeDistribution& mode, Index extent, const GridShape& grid, int rank);

// All grid modes over which a mode of the tensor is distributed, ascending.
std::vector<int> used_grid_modes(const TensorDistribution& distribution);

// A sentence about the first violated rule, or nothing. Valid: grid modes exist, none is used twice,
// and alignments are below the number of parts. Canonical: valid, and no element lies on two processes.
std::optional<std::string> invalidity(const TensorDistribution& distribution, const GridShape& grid);
std::optional<std::string> noncanonicity(const TensorDistribution& distribution, const GridShape& grid);
// Throws Error{bad_option} with that sentence.
void check_valid(const TensorDistribution& distribution, const GridShape& grid);

// One grid mode for each tensor mode in turn; the remaining ones for the last
// mode (Schatz 2013, section 3.6). A scalar is replicated on all processes.
TensorDistribution canonical_distribution(int order, int grid_order);

// Elemental's names for the distributions of a mode over a two-mode grid: *, MC, MR, VC and VR.
std::optional<ModeDistribution> elemental_distribution(std::string_view name);

}  // namespace polyad::dense
