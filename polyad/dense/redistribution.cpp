#include "polyad/dense/redistribution.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "polyad/dense/distribution_text.hpp"

namespace polyad::dense {
namespace {

// Pairwise: p - 1 messages, every word once. Logarithmic: half of all words in each of log p messages.
StepCost all_to_all_cost(double p, double n) {
  const double rounds = std::ceil(std::log2(p));
  const StepCost pairwise{p - 1, n * (p - 1) / p}, logarithmic{rounds, n / 2 * rounds};
  const DenseMachine machine;
  return seconds(pairwise, machine) <= seconds(logarithmic, machine) ? pairwise : logarithmic;
}

bool is_reduction(Move move) {
  return move == Move::reduce_scatter || move == Move::all_reduce;
}

// The elements that a process has before and needs after.
Index kept_elements(const DenseLayout& from, const DenseLayout& to, int rank) {
  if (!holds_anything(from, rank) || !holds_anything(to, rank)) return 0;
  const auto before = share_of(from, rank), after = share_of(to, rank);
  Index kept = 1;
  for (std::size_t m = 0; m < before.size(); ++m) kept *= intersection(before[m], after[m]).count;
  return kept;
}

// Elements in messages that a process packs and unpacks, at most.
Index buffer_elements(const RedistributionStep& step, Index before, Index after) {
  switch (step.move) {
    case Move::permutation:
    case Move::all_to_all:
      return before + after;
    case Move::allgather:
    case Move::gather:
      return after;
    case Move::reduce_scatter:
    case Move::scatter:
      return before;
    default:
      return 0;
  }
}

}  // namespace

std::string_view to_string(Move move) {
  switch (move) {
    case Move::filter:
      return "local filter";
    case Move::permutation:
      return "permutation";
    case Move::all_to_all:
      return "all-to-all";
    case Move::allgather:
      return "allgather";
    case Move::reduce_scatter:
      return "reduce-scatter";
    case Move::all_reduce:
      return "allreduce";
    case Move::scatter:
      return "scatter";
    case Move::gather:
      return "gather";
    case Move::broadcast:
      return "broadcast";
  }
  return "";
}

double num_processes(const std::vector<int>& grid_modes, const GridShape& grid) {
  double count = 1;
  for (const int h : grid_modes) count *= grid.dim(h);
  return count;
}

StepCost& StepCost::operator+=(const StepCost& other) {
  messages += other.messages;
  words += other.words;
  additions += other.additions;
  copied_words += other.copied_words;
  return *this;
}

double seconds(const StepCost& cost, const DenseMachine& machine) {
  return cost.messages * machine.per_message + cost.words * machine.per_word +
         cost.additions * machine.per_addition + cost.copied_words * machine.per_copied_word;
}

StepCost cost_of(Move move, double p, double before, double after) {
  const double rounds = std::ceil(std::log2(p));
  StepCost cost;
  switch (move) {
    case Move::filter:
      return {0, 0, 0, after};
    case Move::permutation:
      cost = {1, before};
      break;
    case Move::all_to_all:
      cost = all_to_all_cost(p, std::max(before, after));
      break;
    case Move::allgather:
    case Move::gather:
      cost = {rounds, (p - 1) / p * after};
      break;
    case Move::scatter:
      cost = {rounds, (p - 1) / p * before};
      break;
    case Move::reduce_scatter:
      cost = {rounds, (p - 1) / p * before, (p - 1) / p * before};
      break;
    case Move::all_reduce:
      cost = {2 * rounds, 2 * (p - 1) / p * before, (p - 1) / p * before};
      break;
    case Move::broadcast:
      cost = {rounds, after};
      break;
  }
  cost.copied_words = before + after;
  return cost;
}

StepCost cost_of(const RedistributionStep& step, const GridShape& grid, const std::vector<Index>& extents) {
  return cost_of(step.move, num_processes(step.grid_modes, grid),
                 double(largest_local_size({grid, extents, step.from})),
                 double(largest_local_size({grid, extents, step.to})));
}

StepCost cost_of(const RedistributionPlan& plan) {
  StepCost cost;
  for (const auto& step : plan.steps) cost += cost_of(step, plan.grid, plan.extents);
  return cost;
}

Index planned_words(const RedistributionStep& step, const GridShape& grid, const std::vector<Index>& extents,
                    int rank) {
  const DenseLayout from{grid, extents, step.from}, to{grid, extents, step.to};
  if (step.move == Move::all_reduce) {
    const auto p = Index(num_processes(step.grid_modes, grid));
    return 2 * (local_size(from, rank) * (p - 1) / p);
  }
  const Index kept = kept_elements(from, to, rank);
  return local_size(is_reduction(step.move) ? from : to, rank) - kept;
}

Index planned_words(const RedistributionPlan& plan, int rank) {
  Index words = 0;
  for (const auto& step : plan.steps) words += planned_words(step, plan.grid, plan.extents, rank);
  return words;
}

bool can_reorder(const RedistributionPlan& plan) {
  if (plan.steps.empty()) return false;
  const Move last = plan.steps.back().move;
  return last == Move::filter || last == Move::permutation || last == Move::all_to_all ||
         last == Move::allgather || last == Move::gather;
}

Index working_elements(const RedistributionPlan& plan) {
  Index maximum = 0;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const auto& step = plan.steps[s];
    const Index before = largest_local_size({plan.grid, plan.extents, step.from});
    const Index after = largest_local_size({plan.grid, plan.extents, step.to});
    maximum = std::max(maximum, (s > 0 ? before : 0) + after + buffer_elements(step, before, after));
  }
  return maximum;
}

std::string describe(const RedistributionPlan& plan) {
  std::string text;
  for (const auto& step : plan.steps) {
    text += fmt::format("{}", to_string(step.move));
    if (step.move != Move::filter) text += fmt::format(" over <{}>", fmt::join(step.grid_modes, ","));
    text += fmt::format(": {} -> {}", to_string(step.from), to_string(step.to));
    if (step.move != Move::filter)
      text += fmt::format(", {:.0f} words", cost_of(step, plan.grid, plan.extents).words);
    text += "\n";
  }
  return text;
}

TensorDistribution without_trivial_modes(const TensorDistribution& distribution, const GridShape& grid) {
  auto result = distribution;
  const auto is_trivial = [&](int h) { return grid.dim(h) == 1; };
  for (auto& mode : result.modes) std::erase_if(mode.grid_modes, is_trivial);
  std::erase_if(result.held_on, [&](const Hyperplane& plane) { return is_trivial(plane.grid_mode); });
  std::erase_if(result.summed_over, is_trivial);
  return result;
}

}  // namespace polyad::dense
