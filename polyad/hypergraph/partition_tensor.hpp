#pragma once

#include <vector>

#include "polyad/hypergraph/models.hpp"
#include "polyad/hypergraph/partition_kinds.hpp"
#include "polyad/hypergraph/partitioner.hpp"

namespace polyad::hypergraph {

// A partition of a tensor, as cpd takes it: [nonzero] for the fine model; for the coarse one [slice], mode
// after mode, and for the row-wise one [row] (or [column]), all indices among them, also those without
// nonzeros.
struct TensorPartition {
  std::vector<int> parts;
  PartitionMetrics metrics;
  bool was_cut_short = false;
  Index num_vertices = 0, num_nets = 0, num_pins = 0;
};

// How many parts those are.
Index num_partitioned(const SparseTensor<double>& x, PartitionModel model);

struct TensorPartitionOptions {
  PartitionModel model = PartitionModel::fine;
  SliceWeights slice_weights = SliceWeights::per_mode;  // of the coarse model
  PartitionMethod method = PartitionMethod::hypergraph;
  // Starts are added. `older` is [nonzero], [slice], [row] or [column], as the result.
  PartitionOptions hypergraph;
};

// The hypergraph that the options speak of.
Hypergraph model_of(const SparseTensor<double>& x, const TensorPartitionOptions& options);

TensorPartition partition_tensor(const SparseTensor<double>& x, const TensorPartitionOptions& options);

// The same for parts that are known already.
TensorPartition measured_partition(const SparseTensor<double>& x, const TensorPartitionOptions& options,
                                   std::vector<int> parts);

// Any hypergraph, by any method; consecutive vertices are a start.
PartitionResult partition_by(const Hypergraph& h, PartitionMethod method, PartitionOptions options);

}  // namespace polyad::hypergraph
