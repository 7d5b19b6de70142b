#include "polyad/plan/plan_evaluation.hpp"

#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

namespace polyad {
namespace {

// The cheapest pass that computes the MTTKRPs of a set of modes and no others.
struct SetPass {
  AlsStep step;
  double seconds = 0;
};

// [set of modes]: those that the first levels of some tree can serve.
std::map<ModeSet, SetPass> cheapest_passes(const AlsCost& cost, const AlsPlan& all, double tree_price) {
  std::map<ModeSet, SetPass> passes;
  for (int t = 0; t < int(all.trees.size()); ++t) {
    ModeSet set = 0;
    for (int level = 0; level < int(all.trees[t].size()); ++level) {
      set |= ModeSet(1) << all.trees[t][level];
      const AlsStep step{AlsStep::Kind::levels, all.trees[t].front(), t, level + 1};
      const double seconds = cost.step_seconds(all, step) + tree_price;
      const auto [place, is_new] = passes.try_emplace(set, SetPass{step, seconds});
      if (!is_new && seconds < place->second.seconds * (1 - 1e-9)) place->second = {step, seconds};
    }
  }
  return passes;
}

// Which passes serve every mode once and take the least time together.
std::vector<AlsStep> choose_passes(const std::map<ModeSet, SetPass>& passes, int order) {
  struct Choice {
    double seconds = std::numeric_limits<double>::infinity();
    ModeSet last = 0;  // the set that was served last
  };
  const ModeSet every = (ModeSet(1) << order) - 1;
  std::vector<Choice> best(std::size_t(every) + 1);  // [modes that are served]
  best[0].seconds = 0;
  for (ModeSet served = 0; served < every; ++served) {
    if (best[served].seconds == std::numeric_limits<double>::infinity()) continue;
    const ModeSet next_mode = ModeSet(1) << std::countr_one(served);
    for (const auto& [set, pass] : passes) {
      if ((set & served) != 0 || (set & next_mode) == 0) continue;
      const double seconds = best[served].seconds + pass.seconds;
      if (seconds < best[served | set].seconds * (1 - 1e-9)) best[served | set] = {seconds, set};
    }
  }
  std::vector<AlsStep> steps;
  for (ModeSet served = every; served != 0; served &= ~best[served].last)
    steps.insert(steps.begin(), passes.at(best[served].last).step);
  return steps;
}

}  // namespace

AlsPlan plan_evaluation(const AlsCost& cost, const AlsPlanOptions& options) {
  const bool has_trees = !options.trees.empty();
  const int order = cost.shape().order();
  AlsPlan all{options.mode_order, has_trees ? options.trees : candidate_trees(cost.shape().rows), {}};
  if (all.mode_order.empty()) {
    all.mode_order.resize(std::size_t(order));
    std::iota(all.mode_order.begin(), all.mode_order.end(), 0);
  }
  const double tree_price = has_trees ? 0 : cost.tree_build_seconds() / usual_iterations;
  all.steps = choose_passes(cheapest_passes(cost, all, tree_price), order);
  if (has_trees) return all;
  AlsPlan plan{all.mode_order, {}, all.steps};  // with the trees that it uses
  for (auto& step : plan.steps) {
    plan.trees.push_back(all.trees[step.tree]);
    step.tree = int(plan.trees.size()) - 1;
  }
  return plan;
}

}  // namespace polyad
