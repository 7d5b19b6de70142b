// The planner tries few neighbours of a distribution. Here all of them are tried, on small grids.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <queue>

#include "polyad/dense/distribution_text.hpp"
#include "polyad/dense/redistribution.hpp"
#include "tests/support/random_distribution.hpp"

namespace polyad::dense {
namespace {

using Visit = std::function<void(const TensorDistribution&)>;

// Every subset of a list that is not empty, in the order of the list.
std::vector<std::vector<int>> subsets(const std::vector<int>& list) {
  std::vector<std::vector<int>> result;
  for (unsigned bits = 1; bits < 1u << list.size(); ++bits) {
    result.emplace_back();
    for (std::size_t i = 0; i < list.size(); ++i)
      if (bits >> i & 1) result.back().push_back(list[i]);
  }
  return result;
}

// Every way to put grid modes behind those that modes have, in any order and with any alignment that leaves
// the parts of a process within what it had.
void for_each_placement(const GridShape& grid, const TensorDistribution& at, const std::vector<int>& free,
                        const Visit& visit) {
  if (free.empty()) return visit(at);
  for (const int h : free)
    for (std::size_t m = 0; m < at.modes.size(); ++m) {
      auto longer = at;
      auto& mode = longer.modes[m];
      const Index parts = num_parts(mode, grid);
      mode.grid_modes.push_back(h);
      auto rest = free;
      std::erase(rest, h);
      for (int shift = 0; shift < grid.dim(h); ++shift, mode.alignment += parts)
        for_each_placement(grid, longer, rest, visit);
    }
}

// All distributions that one collective leads to, of those that may be on the way to the target: its
// hyperplanes, and no others.
class AllMoves {
 public:
  AllMoves(const GridShape& grid, const std::vector<Index>& extents, const TensorDistribution& target,
           const DenseMachine& machine)
      : grid_(grid), extents_(extents), target_(target), machine_(machine) {}

  double cheapest(const TensorDistribution& from) {
    reach(from, 0);
    while (!open_.empty()) {
      const auto [cost, state] = open_.top();
      open_.pop();
      if (state == target_) return cost;
      if (cost > costs_.at(state)) continue;
      now_ = cost;
      filters(state);
      sums(state);
      hyperplanes(state);
      cuts(state);
    }
    return -1;
  }

 private:
  using Entry = std::pair<double, TensorDistribution>;

  void reach(const TensorDistribution& state, double cost) {
    const auto [known, is_new] = costs_.try_emplace(state, cost);
    if (!is_new && known->second <= cost) return;
    known->second = cost;
    open_.emplace(cost, state);
  }
  void move(Move move, const std::vector<int>& along, const TensorDistribution& from,
            const TensorDistribution& to) {
    if (to != from) reach(to, now_ + seconds(cost_of({move, along, from, to}, grid_, extents_), machine_));
  }
  void place(Move kind, const std::vector<int>& along, const TensorDistribution& from,
             const TensorDistribution& rest) {
    for_each_placement(grid_, rest, along, [&](const auto& to) { move(kind, along, from, to); });
  }

  void filters(const TensorDistribution& state) {
    auto used = used_grid_modes(state);
    used.insert(used.end(), state.summed_over.begin(), state.summed_over.end());
    for (const auto& plane : state.held_on) used.push_back(plane.grid_mode);
    std::vector<int> free;
    for (int h = 0; h < grid_.order(); ++h)
      if (grid_.dim(h) > 1 && std::ranges::find(used, h) == used.end()) free.push_back(h);
    for (const auto& along : subsets(free)) {
      place(Move::filter, along, state, state);
      if (const auto held = on_planes(state, along)) move(Move::filter, along, state, *held);
    }
  }

  void sums(const TensorDistribution& state) {
    for (const auto& along : subsets(state.summed_over)) {
      auto rest = state;
      std::erase_if(rest.summed_over, [&](int h) { return std::ranges::find(along, h) != along.end(); });
      move(Move::all_reduce, along, state, rest);
      place(Move::reduce_scatter, along, state, rest);
    }
  }

  void hyperplanes(const TensorDistribution& state) {
    std::vector<int> held;
    for (const auto& plane : state.held_on) held.push_back(plane.grid_mode);
    for (const auto& along : subsets(held)) {
      auto rest = state;
      std::erase_if(rest.held_on, [&](const auto& plane) {
        return std::ranges::find(along, plane.grid_mode) != along.end();
      });
      move(Move::broadcast, along, state, rest);
      place(Move::scatter, along, state, rest);
    }
  }

  void cuts(const TensorDistribution& state) { cut(state, state, 0, {}); }
  void cut(const TensorDistribution& state, TensorDistribution rest, std::size_t m, std::vector<int> along) {
    if (m < state.modes.size()) {
      cut(state, rest, m + 1, along);
      auto& mode = rest.modes[m];
      while (!mode.grid_modes.empty()) {
        along.push_back(mode.grid_modes.back());
        mode.grid_modes.pop_back();
        mode.alignment %= num_parts(mode, grid_);
        cut(state, rest, m + 1, along);
      }
    } else if (!along.empty()) {
      move(Move::allgather, along, state, rest);
      if (const auto held = on_planes(rest, along)) move(Move::gather, along, state, *held);
      for_each_placement(grid_, rest, along, [&](const auto& to) {
        const bool same_parts = std::ranges::equal(to.modes, state.modes, [&](const auto& a, const auto& b) {
          return num_parts(a, grid_) == num_parts(b, grid_);
        });
        move(same_parts ? Move::permutation : Move::all_to_all, along, state, to);
      });
    }
  }

  // The distribution on those planes of the target that lie along these grid modes, if all do.
  std::optional<TensorDistribution> on_planes(TensorDistribution state, const std::vector<int>& along) const {
    for (const int h : along) {
      const auto plane = std::ranges::find(target_.held_on, h, &Hyperplane::grid_mode);
      if (plane == target_.held_on.end()) return std::nullopt;
      state.held_on.push_back(*plane);
    }
    std::ranges::sort(state.held_on);
    return state;
  }

  const GridShape& grid_;
  const std::vector<Index>& extents_;
  const TensorDistribution& target_;
  const DenseMachine& machine_;
  double now_ = 0;
  std::map<TensorDistribution, double> costs_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open_;
};

// As the planner writes it: hyperplanes in order.
TensorDistribution sampled(const GridShape& grid, int order, std::uint64_t seed) {
  auto result = test::random_distribution(grid, order, seed);
  std::ranges::sort(result.held_on);
  return result;
}

// Large tensors are worth the second search on any grid.
void expect_cheapest(const GridShape& grid, int order, Index longest, std::uint64_t seed) {
  const auto extents = test::random_extents(order, seed, std::uint64_t(longest));
  auto from = sampled(grid, order, 2 * seed);
  const auto to = sampled(grid, order, 2 * seed + 1);
  const auto used = used_grid_modes(from);
  if (seed % 4 == 0 && from.held_on.empty())  // sums to be made
    for (int h = 0; h < grid.order(); ++h)
      if (grid.dim(h) > 1 && std::ranges::find(used, h) == used.end()) from.summed_over.push_back(h);
  DenseMachine machine;
  if (seed % 3 == 0) machine.per_word = 8e-9;  // beside which copies cost nothing
  const auto found = plan_redistribution(grid, extents, from, to, machine);
  const double best = AllMoves(grid, extents, to, machine).cheapest(from);
  EXPECT_NEAR(seconds(cost_of(found), machine), best, 1e-8 * best)
      << "seed " << seed << ", grid " << to_string(grid) << ": " << to_string(from) << " -> " << to_string(to)
      << "\n"
      << describe(found);
}

TEST(CheapestRedistribution, is_found_on_grids_of_two_modes) {
  const std::vector<std::vector<int>> grids{{6}, {2, 3}, {4, 2}, {3, 3}};
  for (std::uint64_t seed = 0; seed < 120; ++seed)
    expect_cheapest(GridShape(grids[seed % 4]), 1 + int(seed / 4 % 3), seed % 2 ? 40 : 400, seed);
}

TEST(CheapestRedistribution, is_found_on_grids_of_three_modes) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    expect_cheapest(GridShape({2, 2, 2}), 1, 40, seed);
    expect_cheapest(GridShape({2, 2, 2}), 2, 8000, seed);
  }
}

}  // namespace
}  // namespace polyad::dense
