// What a plan takes: operations, words, seconds, memory.

#include <algorithm>

#include "polyad/dense/contraction_plan.hpp"
#include "polyad/kernels/dense/local_contraction.hpp"

namespace polyad::dense {
namespace {

Index largest_part(const RedistributionPlan& plan) {
  return largest_local_size({plan.grid, plan.extents, plan.to});
}

kernels::LabelledShape local_shape(const IndexNames& indices, const RedistributionPlan& plan,
                                   const std::map<std::string, Index>& extents) {
  kernels::LabelledShape shape;
  for (std::size_t m = 0; m < indices.size(); ++m) {
    const Index parts = num_parts(plan.to.modes[m], plan.grid);
    shape.labels.push_back(int(std::distance(extents.begin(), extents.find(indices[m]))));
    shape.extents.push_back((plan.extents[m] + parts - 1) / parts);
  }
  return shape;
}

std::vector<int> modes_of(const std::vector<int>& labels, const kernels::LabelledShape& shape) {
  std::vector<int> modes;
  for (const int label : labels)
    modes.push_back(int(std::ranges::find(shape.labels, label) - shape.labels.begin()));
  return modes;
}

// What a process multiplies, at most.
struct ProductShapes {
  kernels::LabelledShape a, b, c;
};
ProductShapes shapes_of(const ContractionPlan& plan) {
  const auto& problem = plan.problem;
  const RedistributionPlan product{problem.grid, plan.reduce.extents, {}, plan.product, {}};
  return {local_shape(plan.a.indices, plan.a.prep, problem.extents),
          local_shape(plan.b.indices, plan.b.prep, problem.extents),
          local_shape(problem.expression.c, product, problem.extents)};
}

bool sums_first(const IndexNames& before, const InputPlan& input) {
  return before.size() != input.indices.size();
}

}  // namespace

ProductLayout product_layout(const ContractionPlan& plan) {
  const auto [a, b, c] = shapes_of(plan);
  const auto wanted = orders_for_product(c, a, b);
  return {modes_of(can_reorder(plan.a.prep) ? wanted.a : a.labels, a),
          modes_of(can_reorder(plan.b.prep) ? wanted.b : b.labels, b)};
}

double local_flops(const ContractionPlan& plan) {
  std::map<std::string, Index> local;
  for (const auto* input : {&plan.a, &plan.b})
    for (std::size_t m = 0; m < input->indices.size(); ++m) {
      const Index parts = num_parts(input->prep.to.modes[m], plan.problem.grid);
      local[input->indices[m]] = (input->prep.extents[m] + parts - 1) / parts;
    }
  double flops = 2;
  for (const auto& [index, extent] : local) flops *= double(extent);
  return flops;
}

double local_additions(const ContractionPlan& plan, Stationary input) {
  const auto& problem = plan.problem;
  const bool is_a = input == Stationary::a;
  const auto& before = is_a ? problem.expression.a : problem.expression.b;
  if (!sums_first(before, is_a ? plan.a : plan.b)) return 0;
  return double(largest_local_size({problem.grid, problem.extents_of(before), is_a ? problem.a : problem.b}));
}

double total_flops(const ContractionProblem& problem) {
  const IndexNames &a = problem.expression.a, &b = problem.expression.b, &c = problem.expression.c;
  double product = 2, sums = 0;
  for (const auto& [index, extent] : problem.extents)
    if (has_index(c, index) || (has_index(a, index) && has_index(b, index))) product *= double(extent);
  const auto add_sums = [&](const IndexNames& indices, const IndexNames& others) {
    if (other_indices(other_indices(indices, others), c).empty()) return;
    double size = 1;
    for (const auto& index : indices) size *= double(problem.extents.at(index));
    sums += size;
  };
  add_sums(a, b);
  add_sums(b, a);
  return product + sums;
}

StepCost communication_cost(const ContractionPlan& plan) {
  StepCost cost;
  for (const auto* part : {&plan.a.prep, &plan.b.prep, &plan.reduce, &plan.finish}) cost += cost_of(*part);
  return cost;
}

double predicted_seconds(const ContractionPlan& plan, const DenseMachine& machine) {
  const double additions = local_additions(plan, Stationary::a) + local_additions(plan, Stationary::b);
  return seconds(communication_cost(plan), machine) + local_flops(plan) * machine.per_flop +
         additions * machine.per_addition;
}

Index planned_words(const ContractionPlan& plan, int rank) {
  return planned_words(plan.a.prep, rank) + planned_words(plan.b.prep, rank) +
         planned_words(plan.reduce, rank) + planned_words(plan.finish, rank);
}

Index resident_elements(const ContractionProblem& problem) {
  const auto& [name_a, name_b, name_c, a, b, c] = problem.expression;
  return largest_local_size({problem.grid, problem.extents_of(a), problem.a}) +
         largest_local_size({problem.grid, problem.extents_of(b), problem.b}) +
         largest_local_size({problem.grid, problem.extents_of(c), problem.c});
}

Index working_elements(const ContractionPlan& plan) {
  const auto& problem = plan.problem;
  // What an input takes besides the tensor itself while it is moved, and when it is there.
  const auto moving = [&](const IndexNames& before, const InputPlan& input) {
    const Index summed = sums_first(before, input)
                             ? largest_local_size({problem.grid, input.prep.extents, input.prep.from})
                             : 0;
    return summed + working_elements(input.prep);
  };
  const auto there = [&](const IndexNames& before, const InputPlan& input) {
    return sums_first(before, input) || !input.prep.steps.empty() ? largest_part(input.prep) : 0;
  };
  const Index a = there(problem.expression.a, plan.a), b = there(problem.expression.b, plan.b);
  const RedistributionPlan product{problem.grid, plan.reduce.extents, {}, plan.product, {}};
  const Index t = plan.goes_straight_to_c() ? 0 : largest_part(product);
  const auto shapes = shapes_of(plan);
  const auto layout = product_layout(plan);
  const Index workspace =
      contraction_workspace(shapes.c, reordered(shapes.a, layout.a), reordered(shapes.b, layout.b));
  Index maximum = std::max(moving(problem.expression.a, plan.a), a + moving(problem.expression.b, plan.b));
  maximum = std::max(maximum, a + b + t + workspace);
  maximum = std::max(maximum, t + working_elements(plan.reduce));
  return std::max(
      maximum, (plan.reduce.steps.empty() ? t : largest_part(plan.reduce)) + working_elements(plan.finish));
}
}  // namespace polyad::dense
