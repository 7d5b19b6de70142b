#include <algorithm>
#include <limits>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/dense/redistribution_search.hpp"

namespace polyad::dense {
namespace {

// About what the second search takes for each pair of distributions, and how many distributions are so few
// that it takes no time to speak of.
constexpr double seconds_per_pair = 2.5e-7;
constexpr double few_distributions = 60;

TensorDistribution normalised(const TensorDistribution& distribution, const GridShape& grid) {
  auto result = without_trivial_modes(distribution, grid);
  std::ranges::sort(result.held_on);
  std::ranges::sort(result.summed_over);
  return result;
}

}  // namespace

// Number of distributions of the grid modes: an order of some of them, divided into one list per mode.
double RedistributionSearch::num_distributions() const {
  int grid_modes = 0;
  for (int h = 0; h < grid_.order(); ++h) grid_modes += grid_.dim(h) > 1 ? 1 : 0;
  double count = 1, lists = 1;
  for (int k = 0; k < grid_modes; ++k) {
    lists *= double(grid_modes - k) * double(target_.order() + k) / double(k + 1);
    count += lists;
  }
  return count;
}

std::optional<RedistributionSearch::Path> RedistributionSearch::search(const TensorDistribution& from,
                                                                       double limit) {
  nodes_.clear();
  open_ = {};
  limit_ = limit;
  nodes_.emplace(from, Node{0, std::nullopt});
  open_.emplace(0, from);
  while (!open_.empty()) {
    const auto [cost, state] = open_.top();
    open_.pop();
    if (state == target_) break;
    if (cost > nodes_.at(state).cost) continue;
    now_ = cost;
    size_ = size_of(state);
    try_filters(state);
    try_sums(state);
    try_hyperplanes(state);
    try_cuts(state);
    if (const auto reached = nodes_.find(target_); reached != nodes_.end()) limit_ = reached->second.cost;
  }
  const auto end = nodes_.find(target_);
  if (end == nodes_.end()) return std::nullopt;
  Path steps;
  for (const auto* node = &end->second; node->last_step; node = &nodes_.at(node->last_step->from))
    steps.push_back(*node->last_step);
  std::ranges::reverse(steps);
  return steps;
}

RedistributionSearch::Path RedistributionSearch::cheapest_path(const TensorDistribution& from,
                                                               SearchEffort effort) {
  constexpr double rounding = 1e-9;
  auto path = search(from, std::numeric_limits<double>::infinity());
  if (effort == SearchEffort::quick) return *path;
  const double cost = nodes_.at(target_).cost, count = num_distributions();
  if (count > few_distributions && count * count * seconds_per_pair > cost) return *path;
  tries_all_ = true;
  if (auto cheaper = search(from, cost * (1 - rounding))) path = std::move(cheaper);
  return *path;
}

RedistributionPlan plan_redistribution(const GridShape& grid, const std::vector<Index>& extents,
                                       const TensorDistribution& from, const TensorDistribution& to,
                                       const DenseMachine& machine, SearchEffort effort) {
  make_layout(grid, extents, from);
  make_layout(grid, extents, to);
  if (!to.summed_over.empty())
    throw Error(Errc::bad_option, "a redistribution cannot end with sums that are still to be made");
  const auto target = normalised(to, grid);
  const auto start = normalised(from, grid);
  RedistributionPlan plan{grid, extents, from, to, {}};
  if (start != target)
    plan.steps = RedistributionSearch(grid, extents, target, machine).cheapest_path(start, effort);
  return plan;
}

}  // namespace polyad::dense
