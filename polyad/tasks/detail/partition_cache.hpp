#pragma once

#include <optional>
#include <string>

#include "polyad/comm/comm.hpp"
#include "polyad/hypergraph/partition_tensor.hpp"
#include "polyad/tasks/detail/stored_partition.hpp"
#include "polyad/tensor/ratings/rating_side.hpp"

namespace polyad::tasks {

// Partitions of hypergraphs are cached for later runs; see stored_partition.hpp for where. `cache` is what
// --cache names; empty: the user's folder.

// A number that depends on the coordinates, in their order, and on all that decides the partition but time.
// Collective.
std::uint64_t partition_fingerprint(const Comm& comm, const SparseTensor<double>& share,
                                    const hypergraph::TensorPartitionOptions& options);
// Under which a partition of a tensor is stored, that was not cut short. Collective.
PartitionKey partition_key(const Comm& comm, const SparseTensor<double>& share,
                           const hypergraph::TensorPartitionOptions& options);

// Default options of the partitioner in `decompose` and `plan`.
hypergraph::TensorPartitionOptions hypergraph_options(hypergraph::PartitionModel model, int num_parts,
                                                      std::uint64_t seed);

// The same for the users of ratings, or the items, as complete deals them out: the sum of squared
// connectivities.
hypergraph::TensorPartitionOptions completion_partition_options(RatingSide side, int num_parts,
                                                                std::uint64_t seed);

// [nonzero of the share], or [slice], mode after mode; and what is worth telling, a line each, such as why a
// cached partition was ignored or one could not be cached.
struct KeptPartition {
  std::vector<int> parts;
  std::string notice;
  bool is_found = false;  // otherwise there is only a message
};
// From the cache, if it is there. Collective; process 0 reads.
std::optional<KeptPartition> kept_partition(const Comm& comm, const SparseTensor<double>& share,
                                            const std::string& cache,
                                            const hypergraph::TensorPartitionOptions& options);
// From the cache; or made by one process that has all of the tensor for the time, and then cached.
// Collective.
KeptPartition partition_or_reuse(const Comm& comm, const SparseTensor<double>& share,
                                 const std::string& cache, const hypergraph::TensorPartitionOptions& options);

// From the cache, unless time cut it short; else makes it, on one process, and caches it so that
// partition_or_reuse finds it: also if time cuts it short.
KeptPartition partition_and_keep(const SparseTensor<double>& x, const std::string& cache,
                                 const hypergraph::TensorPartitionOptions& options);

}  // namespace polyad::tasks
