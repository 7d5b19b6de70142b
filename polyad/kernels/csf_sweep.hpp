#pragma once

#include <span>

#include "polyad/base/matrix.hpp"
#include "polyad/kernels/row_update.hpp"
#include "polyad/tensor/csf.hpp"

namespace polyad {

// One pass over a tree. factors[mode] are those of all modes; threads share the tree in parts of equal
// work, cut between nodes of the second level, so that a heavy slice is worked on by several; the same
// parts, and the same bits, on every run with the same number of threads.

// m = MTTKRP of the mode at the tree's root. Rows without nonzeros become zero.
template <class Real>
void root_mttkrp(const CsfTree<Real>& tree, std::span<const Matrix<Real>> factors, Matrix<Real>& m);

// Adds the MTTKRP of the mode at a level below the root to the parts.
template <class Real>
void scatter_mttkrp(const CsfTree<Real>& tree, std::span<const Matrix<Real>> factors, int level,
                    PartialRows<Real>& m);

// Updates the factor of the root's mode, in place: each row is solved as soon as its sum is complete. With
// `next`, of order 3 and above, also adds the MTTKRP of the second level's mode with the new rows, whose
// ingredients are at hand. Every row of the factor must have a node.
template <class Real>
RowSums update_root(const CsfTree<Real>& tree, std::span<Matrix<Real>> factors, const Matrix<double>& inverse,
                    PartialRows<Real>* next);

}  // namespace polyad
