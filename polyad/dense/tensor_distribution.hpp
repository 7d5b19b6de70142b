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

// How the indices of a tensor mode are dealt out over a grid d_0 x ... x d_{g-1} (Schatz, FLAME Working Note
// 72, Definition 7): with the grid modes <h_0, h_1, ...>, index j lives where
//   j = p_{h_0} + p_{h_1} d_{h_0} + p_{h_2} d_{h_0} d_{h_1} + ... + alignment  (mod d_{h_0} d_{h_1} ...).
// Without grid modes, every process has all of them.
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

// How a dense tensor lies on a grid: a value that any process can hold of any grid.
struct TensorDistribution {
  std::vector<ModeDistribution> modes;
  std::vector<Hyperplane> held_on;  // processes off one of these hold nothing
  std::vector<int> summed_over;     // an element is the sum of what the processes along these have for it

  int order() const { return int(modes.size()); }
  friend auto operator<=>(const TensorDistribution&, const TensorDistribution&) = default;
};

// Into how many parts a mode is cut, and which indices of each part a process has.
Index num_parts(const ModeDistribution& mode, const GridShape& grid);
CyclicRange range_of(const ModeDistribution& mode, Index extent, const GridShape& grid, int rank);

// All grid modes that deal out some mode of the tensor, ascending.
std::vector<int> used_grid_modes(const TensorDistribution& distribution);

// A sentence about the first rule that is broken, or nothing. Valid: grid modes exist, none has two tasks,
// and alignments are below the number of parts. Canonical: valid, and no element lies on two processes.
std::optional<std::string> invalidity(const TensorDistribution& distribution, const GridShape& grid);
std::optional<std::string> noncanonicity(const TensorDistribution& distribution, const GridShape& grid);
// Throws Error{bad_option} with that sentence.
void check_valid(const TensorDistribution& distribution, const GridShape& grid);

// One grid mode for each tensor mode in turn; what is left of the grid goes to the last mode (section 3.6). A
// scalar has no mode for it: every process has the scalar.
TensorDistribution canonical_distribution(int order, int grid_order);

// Elemental's names for the distributions of a mode over a two-mode grid: *, MC, MR, VC and VR.
std::optional<ModeDistribution> elemental_distribution(std::string_view name);

}  // namespace polyad::dense
