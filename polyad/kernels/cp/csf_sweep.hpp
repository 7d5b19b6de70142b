#pragma once

#include <span>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/kernels/cp/row_update.hpp"
#include "polyad/tensor/csf.hpp"

namespace polyad::kernels {

// Cuts the nodes of a tree's second level into consecutive parts of about equal work, part p being
// [cuts[p], cuts[p + 1]): between nodes, so that a heavy slice is worked on by several threads. From the
// tree alone: the same parts, and with them the same bits, on every run.
template <class Real>
std::vector<Index> cut_evenly(const CsfTree<Real>& tree, int num_parts, Index num_components);

// Nodes of a tree's second level.
struct NodeRange {
  Index begin = 0, end = 0;
};
// Those below the rows [first, end) of the root's mode.
template <class Real>
NodeRange nodes_of_rows(const CsfTree<Real>& tree, Index first, Index end);
// Cuts these only: a pass over them does what it does for their slices, which must be whole.
template <class Real>
std::vector<Index> cut_evenly(const CsfTree<Real>& tree, const NodeRange& nodes, int num_parts,
                              Index num_components);

// A tree, or the slices of some of its rows, and how threads share it.
template <class Real>
struct CutTree {
  const CsfTree<Real>& tree;
  std::span<const Index> cuts;
  int num_parts() const { return int(cuts.size()) - 1; }
  Index num_slices() const {
    if (cuts.front() == cuts.back()) return 0;
    return tree.parent(1, cuts.back() - 1) - tree.parent(1, cuts.front()) + 1;
  }
};

// One pass over a tree. factors[mode] are those of all modes.

// m = MTTKRP of the mode at the tree's root, of the rows from `first` on, to which all slices that are cut
// belong. Rows without nonzeros become zero.
template <class Real>
void root_mttkrp(const CutTree<Real>& x, std::span<const Matrix<Real>> factors, Matrix<Real>& m,
                 Index first = 0);

// Adds the MTTKRP of the mode at a level below the root to the parts, as many as the tree has.
template <class Real>
void scatter_mttkrp(const CutTree<Real>& x, std::span<const Matrix<Real>> factors, int level,
                    PartialRows<Real>& m);

// Updates the factor of the root's mode, in place: each row is solved as soon as its sum is complete. With
// `next`, of order 3 and above, also adds the MTTKRP of the second level's mode with the new rows, whose
// ingredients are at hand. Rows of the factor without a node that is cut stay as they are.
template <class Real>
RowSums update_root(const CutTree<Real>& x, std::span<Matrix<Real>> factors, const RowSystem& system,
                    PartialRows<Real>* next);

}  // namespace polyad::kernels
