#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "polyad/base/random.hpp"
#include "polyad/dense/distribution_text.hpp"
#include "polyad/dense/tensor_distribution.hpp"

namespace polyad::test {

inline dense::TensorDistribution distribution(const std::string& text) {
  return dense::parse_distribution(text).distribution;
}

// Grids of 1 to 4 modes, at most `per_order` of each.
inline std::vector<GridShape> some_grids(int processes, std::size_t per_order) {
  std::vector<GridShape> grids;
  for (int order = 1; order <= 4; ++order) {
    const auto all = all_grids(order, processes);
    for (std::size_t i = 0; i < all.size(); i += 1 + all.size() / per_order) grids.push_back(all[i]);
  }
  return grids;
}

enum class Places { anywhere, whole_grid };

// A valid distribution: grid modes in any order on any mode, some of them unused, some modes with an
// alignment, and now and then a tensor on a hyperplane.
inline dense::TensorDistribution random_distribution(const GridShape& grid, int order, std::uint64_t seed,
                                                     Places places = Places::anywhere) {
  const Random random(seed, 77);
  std::uint64_t draw = 0;
  const auto below = [&](std::uint64_t bound) { return int(random.below(bound, draw++)); };
  std::vector<int> grid_modes(std::size_t(grid.order()));
  for (int h = 0; h < grid.order(); ++h) {
    grid_modes[h] = h;
    std::swap(grid_modes[h], grid_modes[below(std::uint64_t(h) + 1)]);
  }
  dense::TensorDistribution result{std::vector<dense::ModeDistribution>(std::size_t(order)), {}, {}};
  for (const int h : grid_modes) {
    const int task = below(10);
    if (task == 0 && places == Places::anywhere)
      result.held_on.push_back({h, below(std::uint64_t(grid.dim(h)))});
    else if (task > 3 && order > 0)
      result.modes[below(std::uint64_t(order))].grid_modes.push_back(h);
  }
  for (auto& mode : result.modes)
    if (below(3) == 0) mode.alignment = below(std::uint64_t(num_parts(mode, grid)));
  return result;
}

// Between 1 and 11: seldom divisible by a grid.
inline std::vector<Index> random_extents(int order, std::uint64_t seed, std::uint64_t largest = 11) {
  std::vector<Index> extents;
  for (int m = 0; m < order; ++m) extents.push_back(1 + Index(Random(seed, 78).below(largest, m)));
  return extents;
}

}  // namespace polyad::test
