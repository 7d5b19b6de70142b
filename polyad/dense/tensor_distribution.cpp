#include "polyad/dense/tensor_distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "polyad/base/error.hpp"

namespace polyad::dense {
namespace {

// What a grid mode is used for, each once.
struct GridModeUse {
  int grid_mode;
  std::string task;
};

std::vector<GridModeUse> uses_of(const TensorDistribution& distribution) {
  std::vector<GridModeUse> uses;
  for (int m = 0; m < distribution.order(); ++m)
    for (const int h : distribution.modes[m].grid_modes)
      uses.push_back({h, fmt::format("distributes mode {}", m)});
  for (const auto& plane : distribution.held_on)
    uses.push_back({plane.grid_mode, fmt::format("is fixed at {}", plane.coord)});
  for (const int h : distribution.summed_over) uses.push_back({h, "is summed over"});
  return uses;
}

std::optional<std::string> unknown_grid_mode(const std::vector<GridModeUse>& uses, const GridShape& grid) {
  for (const auto& [h, task] : uses)
    if (h < 0 || h >= grid.order())
      return fmt::format("grid mode {} does not exist: the grid {} has modes 0 to {}", h, to_string(grid),
                         grid.order() - 1);
  return std::nullopt;
}

std::optional<std::string> doubled_grid_mode(const std::vector<GridModeUse>& uses) {
  for (std::size_t a = 0; a < uses.size(); ++a)
    for (std::size_t b = a + 1; b < uses.size(); ++b)
      if (uses[a].grid_mode == uses[b].grid_mode)
        return uses[a].task == uses[b].task
                   ? fmt::format("grid mode {} {} twice", uses[a].grid_mode, uses[a].task)
                   : fmt::format("grid mode {} {} and {}", uses[a].grid_mode, uses[a].task, uses[b].task);
  return std::nullopt;
}

std::optional<std::string> bad_number(const TensorDistribution& distribution, const GridShape& grid) {
  for (int m = 0; m < distribution.order(); ++m) {
    const auto& mode = distribution.modes[m];
    const Index parts = num_parts(mode, grid);
    if (mode.alignment < 0 || mode.alignment >= parts)
      return fmt::format("mode {} has alignment {}, but {} {}: expected 0 to {}", m, mode.alignment, parts,
                         parts == 1 ? "part" : "parts", parts - 1);
  }
  for (const auto& [h, coord] : distribution.held_on)
    if (coord < 0 || coord >= grid.dim(h))
      return fmt::format("grid mode {} is fixed at {}, but has coordinates 0 to {}", h, coord,
                         grid.dim(h) - 1);
  return std::nullopt;
}

}  // namespace

Index num_parts(const ModeDistribution& mode, const GridShape& grid) {
  Index parts = 1;
  for (const int h : mode.grid_modes) parts *= grid.dim(h);
  return parts;
}

CyclicRange range_of(const ModeDistribution& mode, Index extent, const GridShape& grid, int rank) {
  Index parts = 1, residue = 0;
  for (const int h : mode.grid_modes) {
    residue += grid.coord(rank, h) * parts;
    parts *= grid.dim(h);
  }
  return cyclic_range(extent, (residue + mode.alignment) % parts, parts);
}

std::vector<int> used_grid_modes(const TensorDistribution& distribution) {
  std::vector<int> used;
  for (const auto& mode : distribution.modes)
    used.insert(used.end(), mode.grid_modes.begin(), mode.grid_modes.end());
  std::ranges::sort(used);
  return used;
}

std::optional<std::string> invalidity(const TensorDistribution& distribution, const GridShape& grid) {
  const auto uses = uses_of(distribution);
  if (auto sentence = unknown_grid_mode(uses, grid)) return sentence;
  if (auto sentence = doubled_grid_mode(uses)) return sentence;
  return bad_number(distribution, grid);
}

std::optional<std::string> noncanonicity(const TensorDistribution& distribution, const GridShape& grid) {
  if (auto sentence = invalidity(distribution, grid)) return sentence;
  if (!distribution.summed_over.empty())
    return fmt::format("the values along grid mode {} are still to be added up", distribution.summed_over[0]);
  const auto uses = uses_of(distribution);
  for (int h = 0; h < grid.order(); ++h)
    if (grid.dim(h) > 1 && std::ranges::find(uses, h, &GridModeUse::grid_mode) == uses.end())
      return fmt::format("grid mode {} is not used: every element is on {} processes", h, grid.dim(h));
  return std::nullopt;
}

void check_valid(const TensorDistribution& distribution, const GridShape& grid) {
  if (const auto sentence = invalidity(distribution, grid)) throw Error(Errc::bad_option, *sentence);
}

TensorDistribution canonical_distribution(int order, int grid_order) {
  TensorDistribution distribution{std::vector<ModeDistribution>(std::size_t(order)), {}, {}};
  if (order == 0) return distribution;
  for (int h = 0; h < grid_order; ++h) distribution.modes[std::min(h, order - 1)].grid_modes.push_back(h);
  return distribution;
}

std::optional<ModeDistribution> elemental_distribution(std::string_view name) {
  static const std::array<std::pair<std::string_view, ModeDistribution>, 5> known{
      {{"*", {{}}}, {"MC", {{0}}}, {"MR", {{1}}}, {"VC", {{0, 1}}}, {"VR", {{1, 0}}}}};
  for (const auto& [known_name, distribution] : known)
    if (known_name == name) return distribution;
  return std::nullopt;
}

}  // namespace polyad::dense
