#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "polyad/dense/redistribution.hpp"

namespace polyad::dense {

// Dijkstra's search over distributions, in two passes. A distribution has very many neighbours, so
// the first pass considers only moves towards the target: grid modes that leave the end of a mode
// go to their target position if all before them are in place; others go to the mode with the most
// indices per process, to be moved or dropped later. The second pass considers all neighbours, but
// continues only from distributions that can still be cheaper than the result of the first.
class RedistributionSearch {
 public:
  using Path = std::vector<RedistributionStep>;

  RedistributionSearch(const GridShape& grid, const std::vector<Index>& extents,
                       const TensorDistribution& target, const DenseMachine& machine)
      : grid_(grid), extents_(extents), target_(target), target_size_(size_of(target)), machine_(machine) {}

  Path cheapest_path(const TensorDistribution& from, SearchEffort effort);

 private:
  struct Node {
    double cost;
    std::optional<RedistributionStep> last_step;
  };
  using Entry = std::pair<double, TensorDistribution>;

  std::optional<Path> search(const TensorDistribution& from, double limit);
  double num_distributions() const;

  void try_filters(const TensorDistribution& state);
  void try_sums(const TensorDistribution& state);
  void try_hyperplanes(const TensorDistribution& state);
  void try_cuts(const TensorDistribution& state);
  void try_cut(const TensorDistribution& state, const std::vector<std::size_t>& lengths);
  void try_step(Move move, const std::vector<int>& grid_modes, const TensorDistribution& from,
                const TensorDistribution& to);
  bool can_pay(Move move, const std::vector<int>& grid_modes) const;
  void try_placements(Move move, const std::vector<int>& grid_modes, const TensorDistribution& from,
                      TensorDistribution rest);

  std::vector<int> free_grid_modes(const TensorDistribution& state) const;
  std::vector<std::vector<int>> groups(const std::vector<int>& grid_modes) const;
  std::optional<TensorDistribution> on_planes(TensorDistribution state, const std::vector<int>& planes) const;
  bool stands_right(const TensorDistribution& state, int mode) const;
  void append(TensorDistribution& state, int mode, int grid_mode) const;
  std::vector<int> put_where_wanted(TensorDistribution& state, std::vector<int> free) const;
  void park(TensorDistribution& state, const std::vector<int>& free) const;
  void place_everywhere(TensorDistribution& state, const std::vector<int>& free,
                        const std::function<void(const TensorDistribution&)>& visit) const;
  double size_of(const TensorDistribution& state) const;
  Index parts(const ModeDistribution& mode) const { return num_parts(mode, grid_); }

  const GridShape& grid_;
  const std::vector<Index>& extents_;
  const TensorDistribution& target_;
  double target_size_;
  const DenseMachine& machine_;
  bool tries_all_ = false;
  double limit_ = std::numeric_limits<double>::infinity();  // upper bound of useful costs
  double now_ = 0, size_ = 0;  // cost and size of the distribution being expanded
  std::map<TensorDistribution, Node> nodes_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open_;
};

}  // namespace polyad::dense
