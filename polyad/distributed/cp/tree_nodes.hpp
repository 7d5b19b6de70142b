#pragma once

#include <span>
#include <vector>

#include "polyad/distributed/cp/grouped_nonzeros.hpp"

namespace polyad {

// Of rows of a mode, for each part: its nonzeros, and the nodes between the root and the nonzeros of a tree
// over them that has the mode at its root. A fiber whose nonzeros are in several parts has a node in each.
// Sums of multiples of a small power of two, which do not depend on the order of adding.
struct TreeNodes {
  std::vector<double> nodes, nonzeros;  // [part]

  void add(const TreeNodes& other);
};

// Counts them, in rows that are sorted by the tree. parts: [nonzero]; empty: all are in part 0. weights: how
// many nonzeros of its row each stands for, [nonzero]; empty: `weight` each. The nodes of these are
// estimated.
TreeNodes count_tree_nodes(const NonzerosByRow& rows, int order, std::span<const int> parts, int num_parts,
                           std::span<const double> weights, double weight);

}  // namespace polyad
