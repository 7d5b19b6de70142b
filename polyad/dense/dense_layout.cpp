#include "polyad/dense/dense_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "polyad/base/error.hpp"

namespace polyad::dense {

DenseLayout make_layout(const GridShape& grid, std::vector<Index> extents, TensorDistribution distribution) {
  check_valid(distribution, grid);
  if (distribution.order() != int(extents.size()))
    throw Error(Errc::bad_option, fmt::format("a distribution of {} modes for a tensor of {}",
                                              distribution.order(), extents.size()));
  constexpr double maximum = 4e18;
  double size = 1;
  for (const Index extent : extents) size *= double(extent);
  if (size > maximum)
    throw Error(Errc::resource, fmt::format("out of memory: a tensor of {:.3g} elements", size));
  return {grid, std::move(extents), std::move(distribution)};
}

bool holds_anything(const DenseLayout& layout, int rank) {
  return std::ranges::all_of(layout.distribution.held_on, [&](const Hyperplane& plane) {
    return layout.grid.coord(rank, plane.grid_mode) == plane.coord;
  });
}

std::vector<CyclicRange> share_of(const DenseLayout& layout, int rank) {
  std::vector<CyclicRange> share;
  const bool holds = holds_anything(layout, rank);
  for (int m = 0; m < layout.order(); ++m)
    share.push_back(range_of(layout.distribution.modes[m], holds ? layout.extents[m] : 0, layout.grid, rank));
  return share;
}

std::vector<Index> extents_of(const std::vector<CyclicRange>& share) {
  std::vector<Index> extents;
  for (const auto& range : share) extents.push_back(range.count);
  return extents;
}

TensorDistribution with_single_owners(const DenseLayout& layout) {
  auto distribution = layout.distribution;
  const auto used = used_grid_modes(distribution);
  for (int h = 0; h < layout.grid.order(); ++h)
    if (layout.grid.dim(h) > 1 && std::ranges::find(used, h) == used.end() &&
        std::ranges::find(distribution.held_on, h, &Hyperplane::grid_mode) == distribution.held_on.end())
      distribution.held_on.push_back({h, 0});
  return distribution;
}

Index num_elements(const std::vector<Index>& extents) {
  return std::accumulate(extents.begin(), extents.end(), Index(1), std::multiplies<>{});
}

Index local_size(const DenseLayout& layout, int rank) {
  return holds_anything(layout, rank) ? num_elements(extents_of(share_of(layout, rank))) : 0;
}

Index largest_local_size(const DenseLayout& layout) {
  Index size = 1;
  for (int m = 0; m < layout.order(); ++m) {
    const Index parts = num_parts(layout.distribution.modes[m], layout.grid);
    size *= (layout.extents[m] + parts - 1) / parts;
  }
  return size;
}

}  // namespace polyad::dense
