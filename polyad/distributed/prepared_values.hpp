#pragma once

#include <span>
#include <vector>

#include "polyad/comm/comm.hpp"
#include "polyad/tensor/sparse_tensor.hpp"
#include "polyad/tensor/value_rules.hpp"

namespace polyad {

// Brings nonzeros with equal coordinates together on one process and combines them. The nonzeros of every
// process are sorted afterwards. Nonzeros of one cell are taken in the order of processes, and on each as
// they are. Returns how many were combined with an earlier one, on all processes. With Duplicates::refuse
// nothing is combined. Collective.
Index combine_duplicates(const Comm& comm, SparseTensor<double>& share, Duplicates rule);

// The same for nonzeros of one process, which counts only its own. Not collective.
Index combine_local_duplicates(SparseTensor<double>& x, Duplicates rule);

// Applies a transform to all values. Returns the position of the first one that has no result, or -1.
Index transform_values(std::span<double> values, Transform transform);

// Removes nonzeros of slices with fewer than minimum[mode] nonzeros, until all slices that are left have as
// many. The extents stay. Returns, for each mode, the number of nonzeros of every slice that are left.
// Collective.
std::vector<std::vector<Index>> keep_frequent_slices(const Comm& comm, SparseTensor<double>& share,
                                                     const std::vector<Index>& minimum);

}  // namespace polyad
