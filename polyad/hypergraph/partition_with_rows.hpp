#pragma once

#include "polyad/hypergraph/balance.hpp"
#include "polyad/hypergraph/models.hpp"
#include "polyad/hypergraph/partition_tensor.hpp"

namespace polyad::hypergraph {

// Partitions of PartitionModel::fine_with_rows: the parts of the nonzeros, then those of the slices, mode
// after mode, with or without nonzeros.

// Parts of the vertices of with_row_vertices(model), given those of its nonzeros: a row goes to that of the
// parts that have nonzeros of it which owns the fewest rows of the mode, as long as it is below its limit,
// else to the part of all that owns the fewest. Rows with few parts choose first.
std::vector<int> with_owners_of_rows(const FineModel& model, std::span<const int> parts_of_nonzeros,
                                     const PartLimits& limits);

// As partition_tensor and measured_partition, for this model. The partition of the fine-grain model, with
// such owners, is one of the starts.
TensorPartition partition_with_rows(const SparseTensor<double>& x, const TensorPartitionOptions& options);
TensorPartition measured_with_rows(const SparseTensor<double>& x, const TensorPartitionOptions& options,
                                   std::vector<int> parts);

}  // namespace polyad::hypergraph
