// Dijkstra's search over distributions. A distribution has very many neighbours, so only moves that may lead
// to the target are tried: grid modes that leave the end of a mode go where the target wants them, when all
// before them stand there already; those that find no such place go where a process has most indices, to be
// moved or dropped later.

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/dense/redistribution.hpp"

namespace polyad {
namespace {

bool contains(const std::vector<int>& list, int h) {
  return std::ranges::find(list, h) != list.end();
}

class Search {
 public:
  Search(const GridShape& grid, const std::vector<Index>& extents, const TensorDistribution& target,
         const DenseMachine& machine)
      : grid_(grid),
        extents_(extents),
        target_(target),
        wanted_(used_grid_modes(target)),
        machine_(machine) {}

  std::vector<RedistributionStep> cheapest_path(const TensorDistribution& from);

 private:
  struct Node {
    double cost;
    std::optional<RedistributionStep> last_step;
  };
  using Entry = std::pair<double, TensorDistribution>;

  void try_filters(const TensorDistribution& state);
  void try_sums(const TensorDistribution& state);
  void try_hyperplanes(const TensorDistribution& state);
  void try_cuts(const TensorDistribution& state);
  void try_cut(const TensorDistribution& state, const std::vector<std::size_t>& lengths);
  void try_step(Move move, std::vector<int> grid_modes, const TensorDistribution& from,
                TensorDistribution to);

  bool stands_right(const TensorDistribution& state, int mode) const;
  std::vector<int> put_where_wanted(TensorDistribution& state, std::vector<int> free) const;
  void park(TensorDistribution& state, const std::vector<int>& free) const;
  Index parts(const ModeDistribution& mode) const { return num_parts(mode, grid_); }

  const GridShape& grid_;
  const std::vector<Index>& extents_;
  const TensorDistribution& target_;
  std::vector<int> wanted_;
  const DenseMachine& machine_;
  std::map<TensorDistribution, Node> nodes_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open_;
};

// Whether a mode is distributed as the beginning of what the target wants.
bool Search::stands_right(const TensorDistribution& state, int mode) const {
  const auto& here = state.modes[mode];
  const auto& there = target_.modes[mode];
  if (here.grid_modes.size() > there.grid_modes.size()) return false;
  return std::equal(here.grid_modes.begin(), here.grid_modes.end(), there.grid_modes.begin()) &&
         here.alignment == there.alignment % parts(here);
}

// Appends those of `free` that the target wants next at some mode; returns the rest.
std::vector<int> Search::put_where_wanted(TensorDistribution& state, std::vector<int> free) const {
  for (int m = 0; m < state.order(); ++m) {
    auto& mode = state.modes[m];
    const auto& aim = target_.modes[m];
    while (stands_right(state, m) && mode.grid_modes.size() < aim.grid_modes.size() &&
           contains(free, aim.grid_modes[mode.grid_modes.size()])) {
      const int h = aim.grid_modes[mode.grid_modes.size()];
      mode.grid_modes.push_back(h);
      mode.alignment = aim.alignment % parts(mode);
      std::erase(free, h);
    }
  }
  return free;
}

// Appends grid modes where a process has most indices, of modes that the target wants no more for.
void Search::park(TensorDistribution& state, const std::vector<int>& free) const {
  for (const int h : free) {
    const auto indices = [&](int m) { return extents_[m] / parts(state.modes[m]); };
    const auto is_open = [&](int m) {
      return stands_right(state, m) && state.modes[m].grid_modes.size() < target_.modes[m].grid_modes.size();
    };
    int best = 0;
    for (int m = 1; m < state.order(); ++m)
      if (std::pair(!is_open(m), indices(m)) > std::pair(!is_open(best), indices(best))) best = m;
    state.modes[best].grid_modes.push_back(h);
  }
}

void Search::try_step(Move move, std::vector<int> grid_modes, const TensorDistribution& from,
                      TensorDistribution to) {
  RedistributionStep step{move, std::move(grid_modes), from, std::move(to)};
  const double cost = nodes_.at(from).cost + seconds(cost_of(step, grid_, extents_), machine_);
  const auto [node, is_new] = nodes_.try_emplace(step.to, Node{cost, step});
  if (!is_new) {
    if (cost >= node->second.cost) return;
    node->second = {cost, step};
  }
  open_.emplace(cost, std::move(step.to));
}

void Search::try_filters(const TensorDistribution& state) {
  const auto used = used_grid_modes(state);
  const auto is_free = [&](int h) {
    return !contains(used, h) && !contains(state.summed_over, h) &&
           std::ranges::find(state.held_on, h, &Hyperplane::grid_mode) == state.held_on.end();
  };
  for (const auto& plane : target_.held_on)
    if (is_free(plane.grid_mode)) {
      auto to = state;
      to.held_on.push_back(plane);
      std::ranges::sort(to.held_on);
      try_step(Move::filter, {plane.grid_mode}, state, std::move(to));
    }
  std::vector<int> free;
  std::ranges::copy_if(wanted_, std::back_inserter(free), is_free);
  if (free.empty()) return;
  auto to = state;
  const auto rest = put_where_wanted(to, free);
  if (rest.size() < free.size()) try_step(Move::filter, free, state, to);
  if (rest.empty()) return;
  park(to, rest);
  try_step(Move::filter, free, state, std::move(to));
}

void Search::try_sums(const TensorDistribution& state) {
  const auto try_over = [&](const std::vector<int>& grid_modes) {
    auto to = state;
    std::erase_if(to.summed_over, [&](int h) { return contains(grid_modes, h); });
    try_step(Move::all_reduce, grid_modes, state, to);
    if (to.order() == 0) return;
    park(to, put_where_wanted(to, grid_modes));
    try_step(Move::reduce_scatter, grid_modes, state, std::move(to));
  };
  if (state.summed_over.empty()) return;
  try_over(state.summed_over);
  if (state.summed_over.size() > 1)
    for (const int h : state.summed_over) try_over({h});
}

void Search::try_hyperplanes(const TensorDistribution& state) {
  std::vector<int> leaving;
  auto to = state;
  to.held_on.clear();
  for (const auto& plane : state.held_on)
    if (std::ranges::find(target_.held_on, plane) == target_.held_on.end())
      leaving.push_back(plane.grid_mode);
    else
      to.held_on.push_back(plane);
  if (leaving.empty()) return;
  try_step(Move::broadcast, leaving, state, to);
  if (to.order() == 0) return;
  park(to, put_where_wanted(to, leaving));
  try_step(Move::scatter, leaving, state, std::move(to));
}

// Every way to take grid modes from the ends of modes, few before many: of two moves that cost the same, that
// among fewer processes is found first and stays.
void Search::try_cuts(const TensorDistribution& state) {
  std::vector<std::size_t> lengths(state.modes.size(), 0);
  for (;;) {
    try_cut(state, lengths);
    std::size_t m = 0;
    for (; m < lengths.size() && ++lengths[m] > state.modes[m].grid_modes.size(); ++m) lengths[m] = 0;
    if (m == lengths.size()) return;
  }
}

void Search::try_cut(const TensorDistribution& state, const std::vector<std::size_t>& lengths) {
  std::vector<int> cut;
  auto rest = state;
  for (std::size_t m = 0; m < lengths.size(); ++m) {
    auto& mode = rest.modes[m];
    cut.insert(cut.end(), mode.grid_modes.end() - std::ptrdiff_t(lengths[m]), mode.grid_modes.end());
    mode.grid_modes.resize(mode.grid_modes.size() - lengths[m]);
    mode.alignment %= parts(mode);
  }
  if (cut.empty()) return;
  std::ranges::sort(cut);
  try_step(Move::allgather, cut, state, rest);

  auto held = rest;
  for (const auto& plane : target_.held_on)
    if (contains(cut, plane.grid_mode)) held.held_on.push_back(plane);
  std::ranges::sort(held.held_on);
  if (held.held_on.size() == rest.held_on.size() + cut.size())
    try_step(Move::gather, cut, state, std::move(held));

  auto moved = rest;
  park(moved, put_where_wanted(moved, cut));
  if (moved == state) return;
  const bool same_parts = std::ranges::equal(
      moved.modes, state.modes, {}, [&](const auto& mode) { return parts(mode); },
      [&](const auto& mode) { return parts(mode); });
  try_step(same_parts ? Move::permutation : Move::all_to_all, cut, state, std::move(moved));
}

std::vector<RedistributionStep> Search::cheapest_path(const TensorDistribution& from) {
  nodes_.emplace(from, Node{0, std::nullopt});
  open_.emplace(0, from);
  while (!open_.empty()) {
    const auto [cost, state] = open_.top();
    open_.pop();
    if (state == target_) break;
    if (cost > nodes_.at(state).cost) continue;
    try_filters(state);
    try_sums(state);
    try_hyperplanes(state);
    try_cuts(state);
  }
  std::vector<RedistributionStep> steps;
  for (const auto* node = &nodes_.at(target_); node->last_step; node = &nodes_.at(node->last_step->from))
    steps.push_back(*node->last_step);
  std::ranges::reverse(steps);
  return steps;
}

TensorDistribution normalised(const TensorDistribution& distribution, const GridShape& grid) {
  auto result = without_trivial_modes(distribution, grid);
  std::ranges::sort(result.held_on);
  std::ranges::sort(result.summed_over);
  return result;
}

}  // namespace

RedistributionPlan plan_redistribution(const GridShape& grid, const std::vector<Index>& extents,
                                       const TensorDistribution& from, const TensorDistribution& to,
                                       const DenseMachine& machine) {
  make_layout(grid, extents, from);
  make_layout(grid, extents, to);
  if (!to.summed_over.empty())
    throw Error(Errc::bad_option, "a redistribution cannot end with sums that are still to be made");
  const auto target = normalised(to, grid);
  const auto start = normalised(from, grid);
  RedistributionPlan plan{grid, extents, from, to, {}};
  if (start != target) plan.steps = Search(grid, extents, target, machine).cheapest_path(start);
  return plan;
}

}  // namespace polyad
