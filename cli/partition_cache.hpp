#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "polyad/comm/comm.hpp"
#include "polyad/hypergraph/partition_tensor.hpp"
#include "polyad/tensor/rating_side.hpp"

namespace polyad::cli {

// Partitions are kept beside the tensor that they are of, under a name that tells what it was and how it
// was partitioned: TENSOR.fine-64-0123456789abcdef.part.

// A number that depends on the coordinates, in their order, and on all that decides the partition but time.
// Collective.
std::uint64_t partition_fingerprint(const Comm& comm, const SparseTensor<double>& share,
                                    const TensorPartitionOptions& options);
std::filesystem::path cached_partition(const std::string& tensor_path, const TensorPartitionOptions& options,
                                       std::uint64_t fingerprint);

// Writes it there; returns why it could not be, or nothing. A run does not fail for that.
std::string keep_partition(const std::filesystem::path& path, std::span<const int> parts);

// What cpd and plan ask of the partitioner where they are told no more.
TensorPartitionOptions hypergraph_options(PartitionModel model, int num_parts, std::uint64_t seed);

// The same for the users of ratings, or the items, as complete deals them out: the sum of squared
// connectivities.
TensorPartitionOptions completion_partition_options(RatingSide side, int num_parts, std::uint64_t seed);

// [nonzero of the share], or [slice], mode after mode; and what is worth telling, such as why it could not be
// kept.
struct KeptPartition {
  std::vector<int> parts;
  std::string notice;
};
// From beside the tensor, if it is there. Collective.
std::optional<KeptPartition> kept_partition(const Comm& comm, const SparseTensor<double>& share,
                                            const std::string& tensor_path,
                                            const TensorPartitionOptions& options);
// From beside the tensor; or made by one process that has all of the tensor for the time, and then kept
// there. Collective.
KeptPartition partition_or_reuse(const Comm& comm, const SparseTensor<double>& share,
                                 const std::string& tensor_path, const TensorPartitionOptions& options);

// Makes it anew, on one process, and keeps it so that partition_or_reuse finds it: also if time cut it short,
// unless there is one that was not, which is then taken.
KeptPartition partition_and_keep(const SparseTensor<double>& x, const std::string& tensor_path,
                                 const TensorPartitionOptions& options);

}  // namespace polyad::cli
