// The neighbours of a distribution.

#include <algorithm>
#include <iterator>

#include "polyad/dense/redistribution_search.hpp"

namespace polyad::dense {
namespace {

bool contains(const std::vector<int>& list, int h) {
  return std::ranges::find(list, h) != list.end();
}

// Every subset of a list that is not empty, in the order of the list; the list itself first.
std::vector<std::vector<int>> subsets(const std::vector<int>& list) {
  std::vector<std::vector<int>> result;
  for (unsigned bits = (1u << list.size()) - 1; bits > 0; --bits) {
    result.emplace_back();
    for (std::size_t i = 0; i < list.size(); ++i)
      if (bits >> i & 1) result.back().push_back(list[i]);
  }
  return result;
}

}  // namespace

// Whether the distribution of a mode is a prefix of that of the target.
bool RedistributionSearch::stands_right(const TensorDistribution& state, int mode) const {
  const auto& here = state.modes[mode];
  const auto& there = target_.modes[mode];
  if (here.grid_modes.size() > there.grid_modes.size()) return false;
  return std::equal(here.grid_modes.begin(), here.grid_modes.end(), there.grid_modes.begin()) &&
         here.alignment == there.alignment % parts(here);
}

// Appends a grid mode, aligned as the target wants it where it stands right. Elsewhere any alignment is as
// good as another: none costs more, and the mode will be cut again.
void RedistributionSearch::append(TensorDistribution& state, int mode, int grid_mode) const {
  const bool was_right = stands_right(state, mode);
  auto& longer = state.modes[mode];
  const auto& aim = target_.modes[mode];
  longer.grid_modes.push_back(grid_mode);
  const std::size_t length = longer.grid_modes.size();
  if (was_right && length <= aim.grid_modes.size() && aim.grid_modes[length - 1] == grid_mode)
    longer.alignment = aim.alignment % parts(longer);
}

// Appends those of `free` that come next at some mode of the target; returns the rest.
std::vector<int> RedistributionSearch::put_where_wanted(TensorDistribution& state,
                                                        std::vector<int> free) const {
  for (int m = 0; m < state.order(); ++m) {
    const auto& here = state.modes[m].grid_modes;
    const auto& aim = target_.modes[m].grid_modes;
    while (stands_right(state, m) && here.size() < aim.size() && contains(free, aim[here.size()])) {
      std::erase(free, aim[here.size()]);
      append(state, m, aim[here.size()]);
    }
  }
  return free;
}

// Appends grid modes where a process has most indices, to modes that need no more for the target.
void RedistributionSearch::park(TensorDistribution& state, const std::vector<int>& free) const {
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

// All orders of the grid modes, on all modes of the tensor.
void RedistributionSearch::place_everywhere(
    TensorDistribution& state, const std::vector<int>& free,
    const std::function<void(const TensorDistribution&)>& visit) const {
  if (free.empty()) return visit(state);
  for (const int h : free) {
    auto rest = free;
    std::erase(rest, h);
    for (int m = 0; m < state.order(); ++m) {
      const Index alignment = state.modes[m].alignment;
      append(state, m, h);
      place_everywhere(state, rest, visit);
      state.modes[m].grid_modes.pop_back();
      state.modes[m].alignment = alignment;
    }
  }
}

// The most elements that a process has.
double RedistributionSearch::size_of(const TensorDistribution& state) const {
  double size = 1;
  for (int m = 0; m < state.order(); ++m) {
    const Index number = parts(state.modes[m]), longest = (extents_[m] + number - 1) / number;
    size *= double(longest);
  }
  return size;
}

void RedistributionSearch::try_step(Move move, const std::vector<int>& grid_modes,
                                    const TensorDistribution& from, const TensorDistribution& to) {
  const double size = size_of(to), processes = num_processes(grid_modes, grid_);
  const double cost = now_ + seconds(cost_of(move, processes, size_, size), machine_);
  // To the target, a process has to get at least what it does not have.
  if (cost + machine_.per_word * std::max(target_size_ - size, 0.0) >= limit_) return;
  const auto node = nodes_.find(to);
  if (node != nodes_.end() && cost >= node->second.cost) return;
  nodes_.insert_or_assign(to, Node{cost, RedistributionStep{move, grid_modes, from, to}});
  open_.emplace(cost, to);
}

// Whether such a move is within the limit even if it leaves a process with nothing and is, where that is
// cheaper, a permutation.
bool RedistributionSearch::can_pay(Move move, const std::vector<int>& grid_modes) const {
  const auto minimum = [&](Move kind) {
    return seconds(cost_of(kind, num_processes(grid_modes, grid_), size_, 0), machine_);
  };
  const double cost =
      move == Move::all_to_all ? std::min(minimum(move), minimum(Move::permutation)) : minimum(move);
  return now_ + cost < limit_;
}

void RedistributionSearch::try_placements(Move move, const std::vector<int>& grid_modes,
                                          const TensorDistribution& from, TensorDistribution rest) {
  const auto try_to = [&](const TensorDistribution& to) {
    if (to == from) return;
    const bool permutes = move == Move::all_to_all &&
                          std::ranges::equal(to.modes, from.modes, [&](const auto& a, const auto& b) {
                            return parts(a) == parts(b);
                          });
    try_step(permutes ? Move::permutation : move, grid_modes, from, to);
  };
  if (rest.order() == 0 || !can_pay(move, grid_modes)) return;
  if (tries_all_) return place_everywhere(rest, grid_modes, try_to);
  park(rest, put_where_wanted(rest, grid_modes));
  try_to(rest);
}

// The grid modes that may take part together in a move that takes any of these.
std::vector<std::vector<int>> RedistributionSearch::groups(const std::vector<int>& grid_modes) const {
  if (tries_all_) return subsets(grid_modes);
  std::vector<std::vector<int>> result;
  if (!grid_modes.empty()) result.push_back(grid_modes);
  if (grid_modes.size() > 1)
    for (const int h : grid_modes) result.push_back({h});
  return result;
}

std::vector<int> RedistributionSearch::free_grid_modes(const TensorDistribution& state) const {
  const auto used = used_grid_modes(state);
  std::vector<int> free;
  for (int h = 0; h < grid_.order(); ++h)
    if (grid_.dim(h) > 1 && !contains(used, h) && !contains(state.summed_over, h) &&
        std::ranges::find(state.held_on, h, &Hyperplane::grid_mode) == state.held_on.end())
      free.push_back(h);
  return free;
}

// The distribution on the planes of the target across these grid modes, if it has one for each.
std::optional<TensorDistribution> RedistributionSearch::on_planes(TensorDistribution state,
                                                                  const std::vector<int>& planes) const {
  for (const int h : planes) {
    const auto plane = std::ranges::find(target_.held_on, h, &Hyperplane::grid_mode);
    if (plane == target_.held_on.end()) return std::nullopt;
    state.held_on.push_back(*plane);
  }
  std::ranges::sort(state.held_on);
  return state;
}

void RedistributionSearch::try_filters(const TensorDistribution& state) {
  const auto free = free_grid_modes(state);
  for (const auto& planes : groups(free))
    if (const auto held = on_planes(state, planes)) try_step(Move::filter, planes, state, *held);
  if (tries_all_) {
    for (const auto& group : groups(free)) try_placements(Move::filter, group, state, state);
    return;
  }
  const auto wanted = used_grid_modes(target_);
  std::vector<int> useful, placed;
  std::ranges::copy_if(free, std::back_inserter(useful), [&](int h) { return contains(wanted, h); });
  auto to = state;
  const auto rest = put_where_wanted(to, useful);
  std::ranges::set_difference(useful, rest, std::back_inserter(placed));
  if (!placed.empty()) try_step(Move::filter, placed, state, to);
  if (!rest.empty()) try_placements(Move::filter, useful, state, state);
}

void RedistributionSearch::try_sums(const TensorDistribution& state) {
  for (const auto& group : groups(state.summed_over)) {
    auto to = state;
    std::erase_if(to.summed_over, [&](int h) { return contains(group, h); });
    try_step(Move::all_reduce, group, state, to);
    try_placements(Move::reduce_scatter, group, state, to);
  }
}

void RedistributionSearch::try_hyperplanes(const TensorDistribution& state) {
  std::vector<int> leaving;
  for (const auto& plane : state.held_on)
    if (tries_all_ || std::ranges::find(target_.held_on, plane) == target_.held_on.end())
      leaving.push_back(plane.grid_mode);
  for (const auto& group : groups(leaving)) {
    auto to = state;
    std::erase_if(to.held_on, [&](const auto& plane) { return contains(group, plane.grid_mode); });
    try_step(Move::broadcast, group, state, to);
    try_placements(Move::scatter, group, state, to);
  }
}

// Every way to take grid modes from the ends of modes, few before many: of two moves that cost the same, that
// among fewer processes is found first and stays.
void RedistributionSearch::try_cuts(const TensorDistribution& state) {
  std::vector<std::size_t> lengths(state.modes.size(), 0);
  for (;;) {
    try_cut(state, lengths);
    std::size_t m = 0;
    for (; m < lengths.size() && ++lengths[m] > state.modes[m].grid_modes.size(); ++m) lengths[m] = 0;
    if (m == lengths.size()) return;
  }
}

void RedistributionSearch::try_cut(const TensorDistribution& state, const std::vector<std::size_t>& lengths) {
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
  if (const auto held = on_planes(rest, cut)) try_step(Move::gather, cut, state, *held);
  try_placements(Move::all_to_all, cut, state, rest);
}

}  // namespace polyad::dense
