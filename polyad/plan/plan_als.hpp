#pragma once

#include <span>
#include <vector>

#include "polyad/plan/als_cost.hpp"

namespace polyad {

// The sets of modes whose distinct tuples the planner counts for a tensor with these numbers of rows.
std::vector<ModeSet> prefix_sets(std::span<const Index> rows);

// Number of iterations within which building a tree must pay off.
inline constexpr int usual_iterations = 20;

struct AlsPlanOptions {
  std::vector<int> mode_order = {};          // required order of updates; empty: any
  std::vector<std::vector<int>> trees = {};  // required trees; empty: any
};

// The plan with the smallest predicted time per iteration. A function of
// its arguments only; of equal costs the first order of modes is taken.
AlsPlan plan_csf(const AlsCost& cost, const AlsPlanOptions& options);

// Trees that are worth looking at for a tensor with these numbers of rows: all, up to order 5.
std::vector<std::vector<int>> candidate_trees(std::span<const Index> rows);

// The tree with the mode at its root that takes the least time for the MTTKRP of this mode.
std::vector<int> fastest_tree(const AlsCost& cost, int mode);

// The usual sets of trees: one with modes by ascending number of rows; this and
// one with the longest mode at its root; one per mode, with the mode at its root.
std::vector<std::vector<int>> one_tree(std::span<const Index> rows);
std::vector<std::vector<int>> two_trees(std::span<const Index> rows);
std::vector<std::vector<int>> a_tree_per_mode(std::span<const Index> rows);

}  // namespace polyad
