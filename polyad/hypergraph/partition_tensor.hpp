#pragma once

#include <span>
#include <vector>

#include "polyad/hypergraph/models.hpp"
#include "polyad/hypergraph/partition_kinds.hpp"
#include "polyad/hypergraph/partitioner.hpp"

namespace polyad::hypergraph {

// A partition of a tensor: [nonzero] in the fine model, [slice], mode
// by mode, in the coarse model, and [row] or [column] in those of a
// matrix; [nonzero] and then [slice] in the fine model with rows.
// Slices, rows and columns without nonzeros are included.
struct TensorPartition {
  std::vector<int> parts;
  PartitionMetrics metrics;
  bool was_cut_short = false;
  Index num_vertices = 0, num_nets = 0, num_pins = 0;
};

// How many slices the modes have, of which each gets a part, without nonzeros or not; at most the largest
// Index.
Index num_slices(std::span<const Index> extents);

// Length of TensorPartition::parts.
Index num_partitioned(const SparseTensor<double>& x, PartitionModel model);
// A part for each slice of such modes, with or without nonzeros: 0. Throws Error{resource} where there is no
// memory for them.
std::vector<int> parts_of_slices(std::span<const Index> extents);

struct TensorPartitionOptions {
  PartitionModel model = PartitionModel::fine;
  SliceWeights slice_weights = SliceWeights::per_mode;  // of the coarse model
  PartitionMethod method = PartitionMethod::hypergraph;
  // Tilings are added to `starts`. `previous` is indexed like the result.
  PartitionOptions hypergraph;
};

// The hypergraph model of the tensor that the options select.
Hypergraph model_of(const SparseTensor<double>& x, const TensorPartitionOptions& options);

TensorPartition partition_tensor(const SparseTensor<double>& x, const TensorPartitionOptions& options);

// Computes the metrics of given parts.
TensorPartition measured_partition(const SparseTensor<double>& x, const TensorPartitionOptions& options,
                                   std::vector<int> parts);

// Partitions any hypergraph by any method; contiguous vertices are one of the starts. For the sum of
// lambda^rho the partitions that minimise the connectivity and those of recursive bisection are refined too,
// and the best of all is taken: never a worse one than PartitionMethod::bisection finds.
PartitionResult partition_by(const Hypergraph& h, PartitionMethod method, PartitionOptions options);

}  // namespace polyad::hypergraph
