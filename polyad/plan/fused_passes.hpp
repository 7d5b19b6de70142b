#pragma once

#include <span>
#include <vector>

#include "polyad/comm/comm.hpp"
#include "polyad/plan/als_cost.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// Which passes over the nonzeros serve two modes. In an iteration of ALS a pass that completes the sums of a
// row can solve it and add at once to the sums of the mode that is updated next; rows of which other
// processes have parts are passed over once more, or add to these sums later, from sums that were kept.
struct FusedPasses {
  std::vector<int> mode_order;  // in which modes are updated; empty: no pass serves two modes
  // [place in the order]: of the time to multiply for the mode, the share that is saved for nonzeros in rows
  // of the mode before it that are complete. Of the first one, 0.
  std::vector<double> saved;
  std::vector<double> saved_of_shared = {};  // the same for nonzeros in other rows
  // [mode]: the modes of the tree with it at the root that takes the least time; empty: there are no trees.
  std::vector<std::vector<int>> trees = {};
};

// Which passes of a run may serve two modes.
struct PassOptions {
  bool can_fuse = false;             // whether any may: in ALS on the processor, in CSF
  std::vector<int> mode_order = {};  // required order of updates; empty: chosen from the tensor
};

// From the counts of the whole tensor, and for a nominal machine: the same however the tensor is distributed.
FusedPasses fused_passes(const TensorShape& whole, const PassOptions& options, Index num_components);

// Number of nodes between the root and the nonzeros of a tree with these modes, from the root down.
double inner_nodes(const TensorShape& shape, std::span<const int> tree);

// The counts of a tensor of which every process has a share. rows: [mode], of the whole tensor. Collective.
TensorShape shape_of_shares(const Comm& comm, const SparseTensor<double>& share, std::vector<Index> rows);

}  // namespace polyad
