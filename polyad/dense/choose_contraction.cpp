#include "polyad/dense/choose_contraction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "polyad/base/error.hpp"

namespace polyad::dense {
namespace {

constexpr std::size_t max_grids = 300;  // that are worth the time to plan for

std::vector<Stationary> variants(const ContractionChoice& choice) {
  if (choice.stationary) return {*choice.stationary};
  return {Stationary::c, Stationary::a, Stationary::b};
}

Index bytes_of(const BlockedContraction& blocked, const ContractionChoice& choice) {
  return (resident_elements(blocked.problem) + working_elements(blocked)) * choice.element_bytes;
}

bool fits(const BlockedContraction& blocked, const ContractionChoice& choice) {
  return !choice.max_bytes || bytes_of(blocked, choice) <= *choice.max_bytes;
}

// The candidate that is best so far, and what the leanest one took.
class DistributionSearch {
 public:
  explicit DistributionSearch(const ContractionChoice& choice) : choice_(choice) {}

  void enter(const BlockedContraction& candidate) {
    min_bytes_ = std::min(min_bytes_, bytes_of(candidate, choice_));
    if (!fits(candidate, choice_)) return;
    const double seconds = predicted_seconds(candidate, choice_.machine);
    if (best_ && seconds >= best_seconds_) return;
    best_ = candidate;
    best_seconds_ = seconds;
  }
  const std::optional<BlockedContraction>& best() const { return best_; }
  Index min_bytes() const { return min_bytes_; }

 private:
  const ContractionChoice& choice_;
  std::optional<BlockedContraction> best_;
  double best_seconds_ = 0;
  Index min_bytes_ = std::numeric_limits<Index>::max();
};

// Block lengths must be multiples of this, so that blocks are distributed as the whole is.
Index block_unit(const ContractionProblem& problem, const std::string& index) {
  const auto& [name_a, name_b, name_c, a, b, c] = problem.expression;
  Index unit = 1;
  const auto include = [&](const IndexNames& indices, const TensorDistribution& distribution) {
    for (std::size_t m = 0; m < indices.size(); ++m)
      if (indices[m] == index) unit = std::lcm(unit, num_parts(distribution.modes[m], problem.grid));
  };
  include(a, problem.a);
  include(b, problem.b);
  include(c, problem.c);
  return unit;
}

ContractionProblem problem_of_block(const ContractionProblem& problem, const std::string& index,
                                    Index extent) {
  auto block = problem;
  block.extents[index] = extent;
  return block;
}

BlockedContraction in_blocks(const ContractionProblem& problem, Stationary stationary,
                             const std::string& index, Index extent, const DenseMachine& machine) {
  return {
      derive_contraction(problem_of_block(problem, index, extent), stationary, machine, SearchEffort::quick),
      problem, index, extent};
}

BlockedContraction unblocked(const ContractionProblem& problem, Stationary stationary,
                             const DenseMachine& machine) {
  return {derive_contraction(problem, stationary, machine, SearchEffort::quick), problem, "", 0};
}

// The longest blocks of this index that fit, by halving; the shortest where none do.
BlockedContraction longest_blocks(const ContractionProblem& problem, Stationary stationary,
                                  const std::string& index, const ContractionChoice& choice) {
  const Index unit = block_unit(problem, index);
  Index units = (problem.extents.at(index) + unit - 1) / unit;
  auto blocked = in_blocks(problem, stationary, index, units * unit, choice.machine);
  while (units > 1) {
    units = (units + 1) / 2;
    blocked = in_blocks(problem, stationary, index, units * unit, choice.machine);
    if (fits(blocked, choice)) break;
  }
  return blocked;
}

void enter_whole(DistributionSearch& search, const ContractionProblem& problem,
                 const ContractionChoice& choice) {
  for (const auto stationary : variants(choice)) search.enter(unblocked(problem, stationary, choice.machine));
}

void enter_blocks(DistributionSearch& search, const ContractionProblem& problem,
                  const ContractionChoice& choice) {
  for (const auto stationary : variants(choice))
    for (const auto& [index, extent] : problem.extents)
      if (extent > block_unit(problem, index))
        search.enter(longest_blocks(problem, stationary, index, choice));
}

// Many candidates are planned quickly; only that which wins is planned thoroughly.
BlockedContraction winner(const std::vector<ContractionProblem>& problems, const ContractionChoice& choice) {
  DistributionSearch search(choice);
  for (const auto& problem : problems) enter_whole(search, problem, choice);
  if (!search.best())
    for (const auto& problem : problems) enter_blocks(search, problem, choice);
  if (!search.best())
    throw Error(Errc::resource,
                fmt::format("the contraction needs {} bytes on a process, even in blocks; {} are allowed",
                            search.min_bytes(), *choice.max_bytes));
  auto refined = *search.best();
  refined.plan = derive_contraction(refined.plan.problem, refined.plan.stationary, choice.machine);
  search.enter(refined);
  return *search.best();
}

}  // namespace

Index BlockedContraction::num_blocks() const {
  if (block_index.empty()) return 1;
  return (problem.extents.at(block_index) + block_extent - 1) / block_extent;
}

ContractionPlan plan_of_block(const BlockedContraction& blocked, Index block) {
  if (blocked.block_index.empty()) return blocked.plan;
  const Index left = blocked.problem.extents.at(blocked.block_index) - block * blocked.block_extent;
  auto plan = blocked.plan;
  if (left >= blocked.block_extent) return plan;
  // The same steps with fewer elements: so it needs no more memory than a whole block.
  plan.problem = problem_of_block(blocked.problem, blocked.block_index, left);
  for (auto* input : {&plan.a, &plan.b}) input->prep.extents = plan.problem.extents_of(input->indices);
  plan.reduce.extents = plan.finish.extents = plan.problem.extents_of(plan.problem.expression.c);
  return plan;
}

// A block's own parts of the tensors are copies.
Index working_elements(const BlockedContraction& blocked) {
  if (blocked.block_index.empty()) return working_elements(blocked.plan);
  const auto& problem = blocked.plan.problem;
  const auto& [name_a, name_b, name_c, a, b, c] = problem.expression;
  const auto copy = [&](const IndexNames& indices, const TensorDistribution& distribution) {
    if (!has_index(indices, blocked.block_index)) return Index(0);
    return largest_local_size({problem.grid, problem.extents_of(indices), distribution});
  };
  return working_elements(blocked.plan) + copy(a, problem.a) + copy(b, problem.b) + copy(c, problem.c);
}

double predicted_seconds(const BlockedContraction& blocked, const DenseMachine& machine) {
  return double(blocked.num_blocks()) * predicted_seconds(blocked.plan, machine);
}

Index planned_words(const BlockedContraction& blocked, int rank) {
  Index words = 0;
  for (Index block = 0; block < blocked.num_blocks(); ++block)
    words += planned_words(plan_of_block(blocked, block), rank);
  return words;
}

BlockedContraction choose_contraction(const ContractionProblem& problem, const ContractionChoice& choice) {
  return winner({problem}, choice);
}

BlockedContraction choose_contraction(const ContractionExpression& expression,
                                      const std::vector<Index>& extents_a,
                                      const std::vector<Index>& extents_b, int num_processes,
                                      const ContractionChoice& choice) {
  auto order = int(std::max({expression.a.size(), expression.b.size(), expression.c.size(), std::size_t(1)}));
  auto grids = all_grids(order, num_processes);
  while (grids.size() > max_grids && order > 1) grids = all_grids(--order, num_processes);
  std::vector<ContractionProblem> problems;
  for (const auto& grid : grids)
    problems.push_back(canonical_problem(expression, grid, extents_a, extents_b));
  return winner(problems, choice);
}

}  // namespace polyad::dense
