#include "polyad/plan/format_choice.hpp"

#include <algorithm>

#include "polyad/base/memory.hpp"

namespace polyad {
namespace {

FormatOption csf_option(const AlsCost& cost, PlanTrees plan_trees, const std::string& name,
                        const AlsPlanOptions& options) {
  FormatOption option{name, Format::csf, plan_trees(cost, options)};
  option.seconds = cost.seconds(option.plan);
  option.build_seconds = cost.tree_build_seconds() * double(option.plan.trees.size());
  option.format_bytes = cost.csf_format_bytes(option.plan.trees);
  return option;
}

}  // namespace

Index FormatOption::peak_bytes() const {
  return program_bytes() + std::max(build_bytes, format_bytes + work_bytes);
}

template <class Real>
FiberSketches sketch_fibers(const SparseTensor<Real, LocalIndex>& x,
                            std::span<const std::span<const Index>> rows, std::span<const Index> all_rows) {
  const auto sets = prefix_sets(all_rows);
  const auto sketches = sketch_distinct(x, rows, sets);
  FiberSketches result;
  for (std::size_t s = 0; s < sets.size(); ++s) result[sets[s]] = sketches[s];
  return result;
}

TensorShape shape_of(std::vector<Index> rows, Index num_nonzeros, const FiberSketches& sketches) {
  TensorShape shape{std::move(rows), num_nonzeros, {}, 0};
  for (const auto& [set, sketch] : sketches) shape.distinct[set] = sketch.estimate();
  return shape;
}

std::vector<int> choose_mode_order(const TensorShape& shape, Index num_components) {
  constexpr int nominal_threads = 4;
  const AlsCost cost(shape, {num_components, sizeof(double), nominal_threads});
  return plan_csf(cost, {}).mode_order;
}

const std::vector<std::string>& format_names() {
  static const std::vector<std::string> names{"csf", "csf-one", "csf-two", "csf-all", "coo", "hicoo"};
  return names;
}

std::vector<FormatOption> list_formats(const AlsCost& cost, const std::vector<int>& mode_order,
                                       PlanTrees plan_trees) {
  const auto& rows = cost.shape().rows;
  std::vector<FormatOption> options;
  options.push_back(csf_option(cost, plan_trees, "csf", {mode_order, {}}));
  options.push_back(csf_option(cost, plan_trees, "csf-one", {mode_order, one_tree(rows)}));
  options.push_back(csf_option(cost, plan_trees, "csf-two", {mode_order, two_trees(rows)}));
  options.push_back(csf_option(cost, plan_trees, "csf-all", {mode_order, a_tree_per_mode(rows)}));
  const auto plain = plain_plan(mode_order);
  const double build = cost.tree_build_seconds();  // they sort, too
  options.push_back({"coo", Format::coo, plain, cost.coo_seconds(), build, cost.coo_format_bytes()});
  options.push_back({"hicoo", Format::hicoo, plain, cost.hicoo_seconds(), build, cost.hicoo_format_bytes()});
  for (auto& option : options) {
    option.work_bytes = cost.work_bytes(option.plan);
    option.build_bytes =
        cost.build_bytes(option.format_bytes, std::max<Index>(1, std::ssize(option.plan.trees)));
  }
  return options;
}

std::vector<FormatOption> list_coarse_formats(std::span<const AlsCost> costs,
                                              const std::vector<int>& mode_order) {
  FormatOption csf{"csf", Format::csf, {mode_order, {}, {}}}, coo{"coo", Format::coo, plain_plan(mode_order)},
      hicoo{"hicoo", Format::hicoo, plain_plan(mode_order)};
  for (const int m : mode_order) {
    const auto& here = costs[m];
    csf.plan.trees.push_back(fastest_tree(here, m));
    csf.plan.steps.push_back({AlsStep::Kind::root, m, int(csf.plan.trees.size()) - 1});
    csf.seconds += here.step_seconds(csf.plan, csf.plan.steps.back());
    csf.format_bytes += here.csf_format_bytes(std::span(&csf.plan.trees.back(), 1));
    coo.seconds += here.coo_seconds() / double(mode_order.size());
    coo.format_bytes += here.coo_format_bytes();
    hicoo.seconds += here.hicoo_seconds() / double(mode_order.size());
    hicoo.format_bytes += here.hicoo_format_bytes();
    for (auto* option : {&csf, &coo, &hicoo}) option->build_seconds += here.tree_build_seconds();
  }
  for (auto* option : {&csf, &coo, &hicoo}) {
    option->work_bytes = costs[0].work_bytes(option->plan);
    option->build_bytes = costs[0].build_bytes(option->format_bytes, std::ssize(mode_order));
  }
  return {csf, coo, hicoo};
}

double usual_seconds(const FormatOption& option) {
  return option.build_seconds + usual_iterations * option.seconds;
}

std::optional<FormatOption> choose_format(const std::vector<FormatOption>& options, const std::string& name,
                                          Index max_bytes) {
  std::optional<FormatOption> best;
  for (const auto& option : options) {
    const bool fits = max_bytes == 0 || option.peak_bytes() <= max_bytes;
    if ((name == "auto" || name == option.name) && fits &&
        (!best || usual_seconds(option) < usual_seconds(*best)))
      best = option;
  }
  return best;
}

template FiberSketches sketch_fibers(const SparseTensor<float, LocalIndex>&,
                                     std::span<const std::span<const Index>>, std::span<const Index>);
template FiberSketches sketch_fibers(const SparseTensor<double, LocalIndex>&,
                                     std::span<const std::span<const Index>>, std::span<const Index>);

}  // namespace polyad
