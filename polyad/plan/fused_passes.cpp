#include "polyad/plan/fused_passes.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "polyad/distributed/sketches_of_all.hpp"
#include "polyad/kernels/cp/factor.hpp"
#include "polyad/plan/format_choice.hpp"
#include "polyad/plan/plan_als.hpp"

namespace polyad {
namespace {

// Of a step over any of the trees that serve it.
template <class Serves>
double least_seconds(const AlsCost& cost, const AlsPlan& all, AlsStep step, Serves serves) {
  double least = std::numeric_limits<double>::infinity();
  for (step.tree = 0; step.tree < int(all.trees.size()); ++step.tree)
    if (serves(all.trees[step.tree])) least = std::min(least, cost.step_seconds(all, step));
  return least;
}

// For rows of the mode that are complete, or for others, as `cost` has it.
double share_saved(const AlsCost& cost, const AlsPlan& all, int mode, int next) {
  const auto root = [&](int m) {
    return least_seconds(cost, all, {AlsStep::Kind::root, m}, [m](const auto& tree) { return tree[0] == m; });
  };
  const double scattered = least_seconds(cost, all, {AlsStep::Kind::scatter, next},
                                         [&](const auto& tree) { return tree[0] != next; });
  double together = std::numeric_limits<double>::infinity();
  for (int t = 0; t < int(all.trees.size()); ++t)
    if (all.trees[t][0] == mode && all.trees[t][1] == next)
      together = std::min(together, cost.step_seconds(all, cost.root_and_next_step(all.trees[t], t)));
  const double alone = std::min(root(next), scattered);
  const double multiplying = alone - cost.update_seconds(next);
  return multiplying > 0 ? std::clamp((root(mode) + alone - together) / multiplying, 0.0, 1.0) : 0;
}

}  // namespace

FusedPasses fused_passes(const TensorShape& whole, const PassOptions& options, Index num_components) {
  if (!options.can_fuse || whole.order() < 3) return {};
  const Index n = kernels::padded_components(num_components);
  const auto mode_order = options.mode_order.empty() ? choose_mode_order(whole, n) : options.mode_order;
  const AlsCost cost(whole, {n, sizeof(double)});
  const AlsCost of_shared(whole, {.num_components = n,
                                  .value_bytes = sizeof(double),
                                  .complete_share = std::vector<double>(std::size_t(whole.order()), 0)});
  AlsPlan all{{}, candidate_trees(whole.rows), {}};
  for (std::size_t i = 1; i < mode_order.size(); ++i) {  // there is one for each pair, if not all trees
    auto tree = fastest_tree(cost, mode_order[i - 1]);
    const auto next = std::ranges::find(tree, mode_order[i]);
    std::rotate(tree.begin() + 1, next, next + 1);
    all.trees.push_back(std::move(tree));
  }
  FusedPasses result{mode_order, {0}, {0}, {}};
  for (int m = 0; m < whole.order(); ++m) result.trees.push_back(fastest_tree(cost, m));
  for (std::size_t i = 1; i < mode_order.size(); ++i) {
    result.saved.push_back(share_saved(cost, all, mode_order[i - 1], mode_order[i]));
    result.saved_of_shared.push_back(share_saved(of_shared, all, mode_order[i - 1], mode_order[i]));
  }
  return result;
}

double inner_nodes(const TensorShape& shape, std::span<const int> tree) {
  double nodes = 0;
  ModeSet modes = ModeSet(1) << tree.front();
  for (std::size_t level = 1; level + 1 < tree.size(); ++level) {
    modes |= ModeSet(1) << tree[level];
    nodes += shape.num_nodes(modes);
  }
  return nodes;
}

TensorShape shape_of_shares(const Comm& comm, const SparseTensor<double>& share, std::vector<Index> rows) {
  const auto sets = prefix_sets(rows);
  auto sketches = sketch_distinct(share, sets);
  merge_over(comm, sketches);
  TensorShape shape{std::move(rows), comm.all_reduce(share.num_nonzeros()), {}, 0};
  for (std::size_t s = 0; s < sets.size(); ++s) shape.distinct[sets[s]] = sketches[s].estimate();
  return shape;
}

}  // namespace polyad
