#include "polyad/dense/contraction_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "polyad/base/error.hpp"

namespace polyad::dense {
namespace {

// The distribution of every index during the local product: what the derivation looks for.
using IndexDistributions = std::map<std::string, ModeDistribution>;

// An input after its local sums: what it alone has is gone, its grid modes are to be summed over.
struct SummedInput {
  IndexNames indices;
  TensorDistribution distribution;
};

SummedInput sum_locally(const IndexNames& indices, const TensorDistribution& distribution,
                        const IndexNames& others, const IndexNames& result) {
  SummedInput summed;
  summed.distribution.held_on = distribution.held_on;
  summed.distribution.summed_over = distribution.summed_over;
  for (std::size_t m = 0; m < indices.size(); ++m) {
    const auto& mode = distribution.modes[m];
    if (has_index(others, indices[m]) || has_index(result, indices[m])) {
      summed.indices.push_back(indices[m]);
      summed.distribution.modes.push_back(mode);
    } else {
      auto& sums = summed.distribution.summed_over;
      sums.insert(sums.end(), mode.grid_modes.begin(), mode.grid_modes.end());
    }
  }
  return summed;
}

// An index that the stationary tensor has is distributed as there, in every tensor; no other is distributed.
IndexDistributions propagate(const IndexNames& indices, const TensorDistribution& stationary) {
  IndexDistributions known;
  for (std::size_t m = 0; m < indices.size(); ++m) known[indices[m]] = stationary.modes[m];
  return known;
}

TensorDistribution spread(const IndexNames& indices, const IndexDistributions& known) {
  TensorDistribution distribution;
  for (const auto& index : indices) {
    const auto found = known.find(index);
    distribution.modes.push_back(found != known.end() ? found->second : ModeDistribution{});
  }
  return distribution;
}

// Where the grid modes of a sum are appended: where C has them next, else where a process has most indices.
int place_for(const std::vector<int>& grid_modes, const TensorDistribution& state,
              const TensorDistribution& wanted, const std::vector<Index>& extents, const GridShape& grid) {
  const auto fits = [&](int m) {
    auto longer = state.modes[m];
    longer.grid_modes.insert(longer.grid_modes.end(), grid_modes.begin(), grid_modes.end());
    const auto& aim = wanted.modes[m];
    return longer.grid_modes.size() <= aim.grid_modes.size() &&
           std::equal(longer.grid_modes.begin(), longer.grid_modes.end(), aim.grid_modes.begin()) &&
           longer.alignment == aim.alignment % num_parts(longer, grid);
  };
  const auto indices = [&](int m) { return extents[m] / num_parts(state.modes[m], grid); };
  int best = 0;
  for (int m = 0; m < state.order(); ++m) {
    if (fits(m)) return m;
    if (indices(m) > indices(best)) best = m;
  }
  return best;
}

// One reduce-scatter for every index that is summed over and distributed; an allreduce where C has no index.
void plan_sums(ContractionPlan& plan, const IndexNames& indices, const TensorDistribution& stationary) {
  const auto& problem = plan.problem;
  const auto extents = problem.extents_of(problem.expression.c);
  auto state = plan.product;
  for (std::size_t m = 0; m < indices.size(); ++m) {
    auto grid_modes = stationary.modes[m].grid_modes;
    std::erase_if(grid_modes, [&](int h) { return problem.grid.dim(h) == 1; });
    if (has_index(problem.expression.c, indices[m]) || grid_modes.empty()) continue;
    auto to = state;
    std::erase_if(to.summed_over,
                  [&](int h) { return std::ranges::find(grid_modes, h) != grid_modes.end(); });
    Move move = Move::all_reduce;
    if (to.order() > 0) {
      move = Move::reduce_scatter;
      auto& mode = to.modes[place_for(grid_modes, to, problem.c, extents, problem.grid)].grid_modes;
      mode.insert(mode.end(), grid_modes.begin(), grid_modes.end());
    }
    plan.reduce.steps.push_back({move, grid_modes, state, to});
    plan.reduced.push_back(indices[m]);
    state = std::move(to);
  }
  plan.reduce.to = state;
}

InputPlan plan_input(const SummedInput& input, const TensorDistribution& to,
                     const ContractionProblem& problem, const DenseMachine& machine, SearchEffort effort) {
  return {input.indices, plan_redistribution(problem.grid, problem.extents_of(input.indices),
                                             input.distribution, to, machine, effort)};
}

// Nothing is moved, and sums that are to be made are made with those of the product.
InputPlan leave_input(const SummedInput& input, const ContractionProblem& problem) {
  return {input.indices,
          {problem.grid, problem.extents_of(input.indices), input.distribution, input.distribution, {}}};
}

void check_inputs(const ContractionProblem& problem) {
  for (const auto* distribution : {&problem.a, &problem.b, &problem.c}) {
    check_valid(*distribution, problem.grid);
    if (!distribution->summed_over.empty())
      throw Error(Errc::bad_option, "a contraction needs tensors whose sums have been made");
  }
}

// Section 5.1: both inputs go to where the result is.
void derive_stationary_result(ContractionPlan& plan, const DenseMachine& machine, SearchEffort effort) {
  const auto& problem = plan.problem;
  const auto& [name_a, name_b, name_c, a, b, c] = problem.expression;
  const auto known = propagate(c, problem.c);
  const auto summed_a = sum_locally(a, problem.a, b, c), summed_b = sum_locally(b, problem.b, a, c);
  plan.a = plan_input(summed_a, spread(summed_a.indices, known), problem, machine, effort);
  plan.b = plan_input(summed_b, spread(summed_b.indices, known), problem, machine, effort);
  plan.product = plan.reduce.from = plan.reduce.to = problem.c;
}

// Section 5.2, and 5.3 with the letters exchanged: the other input goes to where the large one is, and what
// the processes have of the sums is added up.
void derive_stationary_input(ContractionPlan& plan, const DenseMachine& machine, SearchEffort effort) {
  const auto& problem = plan.problem;
  const auto& expression = problem.expression;
  const bool is_a = plan.stationary == Stationary::a;
  const auto &indices = is_a ? expression.a : expression.b,
             &moved_indices = is_a ? expression.b : expression.a;
  const auto &given = is_a ? problem.a : problem.b, &moved_given = is_a ? problem.b : problem.a;
  const auto fixed = sum_locally(indices, given, moved_indices, expression.c);
  const auto moved = sum_locally(moved_indices, moved_given, indices, expression.c);
  const auto known = propagate(fixed.indices, fixed.distribution);
  (is_a ? plan.a : plan.b) = leave_input(fixed, problem);
  (is_a ? plan.b : plan.a) = plan_input(moved, spread(moved.indices, known), problem, machine, effort);

  plan.product = spread(expression.c, known);
  plan.product.held_on = given.held_on;
  for (std::size_t m = 0; m < indices.size(); ++m)
    if (!has_index(expression.c, indices[m])) {
      const auto& sums = given.modes[m].grid_modes;
      plan.product.summed_over.insert(plan.product.summed_over.end(), sums.begin(), sums.end());
    }
  plan.product = without_trivial_modes(plan.product, problem.grid);
  plan.reduce.from = plan.product;
  plan_sums(plan, indices, given);
}

}  // namespace

std::string to_string(Stationary stationary) {
  return stationary == Stationary::a ? "a" : stationary == Stationary::b ? "b" : "c";
}

std::vector<Index> ContractionProblem::extents_of(const IndexNames& indices) const {
  std::vector<Index> result;
  for (const auto& index : indices) result.push_back(extents.at(index));
  return result;
}

ContractionProblem canonical_problem(const ContractionExpression& expression, const GridShape& grid,
                                     const std::vector<Index>& extents_a,
                                     const std::vector<Index>& extents_b) {
  ContractionProblem problem{expression, grid, {}, {}, {}, {}};
  const auto add = [&](const std::string& name, const IndexNames& indices, const std::vector<Index>& extents,
                       const std::string& before) {
    if (indices.size() != extents.size())
      throw Error(Errc::bad_option, fmt::format("{} has {} indices in the expression, but {} modes", name,
                                                indices.size(), extents.size()));
    if (distinct_indices(indices).size() != indices.size())
      throw Error(Errc::bad_option,
                  fmt::format("an index of {} occurs twice: take its diagonal first", name));
    for (std::size_t m = 0; m < indices.size(); ++m) {
      const auto [known, is_new] = problem.extents.try_emplace(indices[m], extents[m]);
      if (!is_new && known->second != extents[m])
        throw Error(Errc::bad_option, fmt::format("index {} has extent {} in {}, but {} in {}", indices[m],
                                                  extents[m], name, known->second, before));
    }
  };
  add(expression.name_a, expression.a, extents_a, expression.name_a);
  add(expression.name_b, expression.b, extents_b, expression.name_a);
  problem.a = canonical_distribution(int(expression.a.size()), grid.order());
  problem.b = canonical_distribution(int(expression.b.size()), grid.order());
  problem.c = canonical_distribution(int(expression.c.size()), grid.order());
  return problem;
}

ContractionPlan derive_contraction(const ContractionProblem& problem, Stationary stationary,
                                   const DenseMachine& machine, SearchEffort effort) {
  check_inputs(problem);
  const auto& [name_a, name_b, name_c, a, b, c] = problem.expression;
  const RedistributionPlan none{problem.grid, problem.extents_of(c), {}, {}, {}};
  ContractionPlan plan{problem, stationary, {{}, none}, {{}, none}, {}, {}, none, none};
  if (stationary == Stationary::c)
    derive_stationary_result(plan, machine, effort);
  else
    derive_stationary_input(plan, machine, effort);
  plan.finish = plan_redistribution(problem.grid, none.extents, plan.reduce.to, problem.c, machine, effort);
  return plan;
}

}  // namespace polyad::dense
