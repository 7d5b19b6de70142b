#pragma once

#include <span>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/kernels/cp/row_update.hpp"
#include "polyad/tensor/csf.hpp"

namespace polyad::kernels {

// Divides the nodes of the second level of a tree into consecutive parts of about equal work;
// part p is [cuts[p], cuts[p + 1]). A heavy slice may be divided among several threads.
// Depends only on the tree and the number of parts, so that results are bitwise reproducible.
template <class Real>
std::vector<Index> cut_evenly(const CsfTree<Real>& tree, int num_parts, Index num_components);

// A range of nodes of the second level of a tree.
struct NodeRange {
  Index begin = 0, end = 0;
};
// The nodes below the rows [first, end) of the root mode.
template <class Real>
NodeRange nodes_of_rows(const CsfTree<Real>& tree, Index first, Index end);
// Divides only these nodes: a pass over them processes their slices, which must be complete.
template <class Real>
std::vector<Index> cut_evenly(const CsfTree<Real>& tree, const NodeRange& nodes, int num_parts,
                              Index num_components);

// A tree, or the slices of some of its rows, with its division among threads.
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

// One pass over a tree. factors: [mode].

// m = MTTKRP of the root mode for the rows from `first` on, which must
// contain all slices of x. Rows without nonzeros are set to zero. With `below`, for order 3 and above, keeps
// the sums below the nodes of the second level: a row for each node of x, which it makes room for.
template <class Real>
void root_mttkrp(const CutTree<Real>& x, std::span<const Matrix<Real>> factors, Matrix<Real>& m,
                 Index first = 0, Array<Real>* below = nullptr);

// Adds the MTTKRP of the second level's mode to `parts`, from sums that root_mttkrp has kept and the factor
// of the root mode.
template <class Real>
void scatter_kept_sums(const CutTree<Real>& x, const Matrix<Real>& root_factor, const Array<Real>& below,
                       PartialRows<Real>& parts);

// Adds the MTTKRP of the mode at a level below the root to `parts`, one for each part of the tree.
template <class Real>
void scatter_mttkrp(const CutTree<Real>& x, std::span<const Matrix<Real>> factors, int level,
                    PartialRows<Real>& m);

// m[level] = the MTTKRP of the mode at this level, for the first levels of a tree, with factors that do not
// change: from one pass, which multiplies rows on its way down and adds sums on its way up. Order of the
// tree at least 2; m has at least one level, and a row per row of its factor. parts: [level - 1], for the
// rows that all parts of the tree but the first add to, each with at least as many rows as m; all zero
// between uses.
template <class Real>
void top_mttkrps(const CutTree<Real>& x, std::span<const Matrix<Real>> factors,
                 std::span<Matrix<Real>* const> m, std::span<PartialRows<Real>> parts);

// Updates the factor of the root mode in place: each row is solved as soon as its sum is
// complete. With `next`, for order 3 and above, also adds the MTTKRP of the second
// level's mode with the new rows. Rows of the factor without a node in x are not changed.
template <class Real>
RowSums update_root(const CutTree<Real>& x, std::span<Matrix<Real>> factors, const RowSystem& system,
                    PartialRows<Real>* next);

}  // namespace polyad::kernels
