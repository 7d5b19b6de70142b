#pragma once

#include <span>
#include <vector>

#include "polyad/plan/als_cost.hpp"

namespace polyad {

// The sets of modes whose distinct tuples the planner wants to know for a tensor of this order.
std::vector<ModeSet> prefix_sets(std::span<const Index> rows);

// Over how many iterations building a tree must pay.
inline constexpr int usual_iterations = 20;

struct AlsPlanOptions {
  std::vector<int> mode_order = {};          // empty: any
  std::vector<std::vector<int>> trees = {};  // these; empty: any
};

// The fastest iteration over trees, by predicted time. A pure function of its arguments; equal costs are
// settled by the first order of modes.
AlsPlan plan_csf(const AlsCost& cost, const AlsPlanOptions& options);

// The tree with the mode at its root that is fastest to pass over for that mode.
std::vector<int> fastest_tree(const AlsCost& cost, int mode);

// The trees of the usual choices: modes by ascending number of rows; one more with the longest at its root;
// one for every mode at its root.
std::vector<std::vector<int>> one_tree(std::span<const Index> rows);
std::vector<std::vector<int>> two_trees(std::span<const Index> rows);
std::vector<std::vector<int>> a_tree_per_mode(std::span<const Index> rows);

}  // namespace polyad
