#include "polyad/plan/plan_als.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace polyad {
namespace {

using Modes = std::vector<int>;

// Up to this order all trees and all orders of modes are looked at: 120 of each.
constexpr int max_order_for_all = 5;
// Beyond this order, distinct tuples are not counted.
constexpr int max_order_to_count = 8;

Modes by_ascending_rows(std::span<const Index> rows) {
  Modes modes(rows.size());
  std::iota(modes.begin(), modes.end(), 0);
  std::ranges::stable_sort(modes, {}, [&](int m) { return rows[m]; });
  return modes;
}

// The modes by ascending rows, but this one first.
Modes rooted_at(int root, std::span<const Index> rows) {
  auto modes = by_ascending_rows(rows);
  std::ranges::rotate(modes.begin(), std::ranges::find(modes, root), std::ranges::find(modes, root) + 1);
  return modes;
}

std::vector<Modes> all_permutations(int order) {
  Modes modes(static_cast<std::size_t>(order));
  std::iota(modes.begin(), modes.end(), 0);
  std::vector<Modes> all;
  do all.push_back(modes);
  while (std::ranges::next_permutation(modes).found);
  return all;
}

std::vector<Modes> candidate_orders(std::span<const Index> rows) {
  const auto order = int(rows.size());
  if (order <= max_order_for_all) return all_permutations(order);
  auto natural = Modes(rows.size()), descending = by_ascending_rows(rows);
  std::iota(natural.begin(), natural.end(), 0);
  std::ranges::reverse(descending);
  return {natural, by_ascending_rows(rows), descending};
}

// Looks for the cheapest list of steps for one order of modes. What a step costs depends on its tree
// alone, so of all trees only the best for a step and those already in use are tried.
class Search {
 public:
  Search(const AlsCost& cost, const AlsPlanOptions& options, std::vector<Modes> trees)
      : cost_(cost), options_(options), all_{{}, std::move(trees), {}} {
    tree_price_ = options.trees.empty() ? cost.tree_build_seconds() / usual_iterations : 0;
    for (int t = 0; t < int(all_.trees.size()); ++t)
      pair_over_.push_back(cost.root_and_next_step(all_.trees[t], t));
    for (int m = 0; m < cost.shape().order(); ++m) {
      best_.push_back({best_step(AlsStep::Kind::root, m, -1), best_step(AlsStep::Kind::scatter, m, -1)});
      for (int next = 0; next < cost.shape().order(); ++next)
        if (next != m)
          if (const auto pair = best_step(AlsStep::Kind::root_and_next, m, next)) pairs_[{m, next}] = *pair;
    }
  }

  void try_order(const Modes& mode_order) {
    all_.mode_order = mode_order;
    steps_.clear();
    extend(0, 0);
  }

  const AlsPlan& result() const { return found_; }

 private:
  struct PerMode {
    std::optional<AlsStep> root, scatter;
  };

  // Whether a pass over a tree that sums the rows of the mode at its root helps with the mode of the second
  // level.
  bool can_pair(int tree) const {
    return cost_.shape().order() > 2 &&
           (cost_.complete_share(pair_over_[tree].mode) > 0 || pair_over_[tree].keeps_sums);
  }

  bool applies(AlsStep::Kind kind, int mode, int next, int tree) const {
    const auto& modes = all_.trees[tree];
    if (kind == AlsStep::Kind::scatter) return modes.front() != mode;
    return modes.front() == mode && (kind == AlsStep::Kind::root || (modes[1] == next && can_pair(tree)));
  }

  AlsStep step_over(int tree, AlsStep::Kind kind, int mode) const {
    return kind == AlsStep::Kind::root_and_next ? pair_over_[tree] : AlsStep{kind, mode, tree};
  }

  double step_seconds(const AlsStep& step) const {
    auto& seconds = known_[{int(step.kind), step.mode, step.tree}];
    if (seconds == 0) seconds = cost_.step_seconds(all_, step);
    return seconds;
  }

  std::optional<AlsStep> best_step(AlsStep::Kind kind, int mode, int next) const {
    std::optional<AlsStep> best;
    double minimum = std::numeric_limits<double>::infinity();
    for (int t = 0; t < int(all_.trees.size()); ++t) {
      if (!applies(kind, mode, next, t)) continue;
      const AlsStep step = step_over(t, kind, mode);
      const double seconds = step_seconds(step);
      if (seconds < minimum * (1 - 1e-9)) best = step, minimum = seconds;
    }
    return best;
  }

  // All steps that are worth trying for the mode at a position.
  std::vector<AlsStep> choices(std::size_t position) const {
    const int mode = all_.mode_order[position];
    const int next = position + 1 < all_.mode_order.size() ? all_.mode_order[position + 1] : -1;
    std::vector<AlsStep> steps;
    const auto add = [&](const std::optional<AlsStep>& step) {
      if (step && std::ranges::find(steps, *step) == steps.end()) steps.push_back(*step);
    };
    const auto pair = pairs_.find({mode, next});
    if (pair != pairs_.end()) add(pair->second);
    add(best_[mode].root);
    add(best_[mode].scatter);
    for (const auto& used : steps_)
      for (const auto kind : {AlsStep::Kind::root_and_next, AlsStep::Kind::root, AlsStep::Kind::scatter})
        if (applies(kind, mode, next, used.tree)) add(step_over(used.tree, kind, mode));
    return steps;
  }

  void extend(std::size_t position, double seconds) {
    if (seconds >= minimum_ * (1 - 1e-9)) return;
    if (position == all_.mode_order.size()) return accept(seconds);
    auto steps = choices(position);
    if (int(all_.mode_order.size()) > max_order_for_all) steps = {cheapest(steps)};
    for (const auto& step : steps) {
      const double seconds_so_far = seconds + price(step);
      steps_.push_back(step);
      extend(position + std::size_t(num_modes(step)), seconds_so_far);
      steps_.pop_back();
    }
  }

  static int num_modes(const AlsStep& step) { return step.kind == AlsStep::Kind::root_and_next ? 2 : 1; }

  // What a step adds to the plan so far.
  double price(const AlsStep& step) const {
    const bool is_new = std::ranges::none_of(steps_, [&](const auto& s) { return s.tree == step.tree; });
    return step_seconds(step) + (is_new ? tree_price_ : 0);
  }
  // Where there are too many plans to look at: the step that costs least for each mode it updates.
  AlsStep cheapest(const std::vector<AlsStep>& steps) const {
    return *std::ranges::min_element(steps, {}, [&](const auto& s) { return price(s) / num_modes(s); });
  }

  void accept(double seconds) {
    found_ = with_used_trees();
    minimum_ = seconds;
  }

  // The plan with the trees it uses, in the order of their first use; or with all, where they were given.
  AlsPlan with_used_trees() const {
    AlsPlan plan{all_.mode_order, options_.trees, steps_};
    if (!options_.trees.empty()) return plan;
    for (auto& step : plan.steps) {
      const auto& tree = all_.trees[step.tree];
      auto place = std::ranges::find(plan.trees, tree) - plan.trees.begin();
      if (place == std::ssize(plan.trees)) plan.trees.push_back(tree);
      step.tree = int(place);
    }
    return plan;
  }

  const AlsCost& cost_;
  const AlsPlanOptions& options_;
  AlsPlan all_;  // with all trees that may be used
  double tree_price_;
  mutable std::map<std::array<int, 3>, double> known_;  // of steps that were costed before
  std::vector<AlsStep> pair_over_;                      // [tree]: that updates its first two modes
  std::vector<PerMode> best_;                           // [mode]
  std::map<std::pair<int, int>, AlsStep> pairs_;
  std::vector<AlsStep> steps_;
  AlsPlan found_;
  double minimum_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::vector<ModeSet> prefix_sets(std::span<const Index> rows) {
  const auto order = int(rows.size());
  std::set<ModeSet> sets;
  if (order <= max_order_to_count)
    for (const auto& tree : candidate_trees(rows)) {
      ModeSet set = ModeSet(1) << tree[0];
      for (int level = 1; level + 1 < order; ++level) sets.insert(set |= ModeSet(1) << tree[level]);
    }
  return {sets.begin(), sets.end()};
}

std::vector<Modes> candidate_trees(std::span<const Index> rows) {
  return int(rows.size()) <= max_order_for_all ? all_permutations(int(rows.size())) : a_tree_per_mode(rows);
}

AlsPlan plan_csf(const AlsCost& cost, const AlsPlanOptions& options) {
  const auto& rows = cost.shape().rows;
  Search search(cost, options, options.trees.empty() ? candidate_trees(rows) : options.trees);
  const auto orders =
      options.mode_order.empty() ? candidate_orders(rows) : std::vector<Modes>{options.mode_order};
  for (const auto& order : orders) search.try_order(order);
  return search.result();
}

Modes fastest_tree(const AlsCost& cost, int mode) {
  auto trees = candidate_trees(cost.shape().rows);
  std::erase_if(trees, [&](const Modes& tree) { return tree.front() != mode; });
  return *std::ranges::min_element(trees, {}, [&](const Modes& tree) {
    return cost.step_seconds({{mode}, {tree}, {}}, {AlsStep::Kind::root, mode, 0});
  });
}

std::vector<Modes> one_tree(std::span<const Index> rows) {
  return {by_ascending_rows(rows)};
}

std::vector<Modes> two_trees(std::span<const Index> rows) {
  const auto ascending = by_ascending_rows(rows);
  return {ascending, rooted_at(ascending.back(), rows)};
}

std::vector<Modes> a_tree_per_mode(std::span<const Index> rows) {
  std::vector<Modes> trees;
  for (int m = 0; m < int(rows.size()); ++m) trees.push_back(rooted_at(m, rows));
  return trees;
}

}  // namespace polyad
