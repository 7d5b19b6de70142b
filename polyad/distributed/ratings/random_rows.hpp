#pragma once

#include <cstdint>

#include "polyad/comm/comm.hpp"
#include "polyad/distributed/row_owners.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// Random parts of the rows of one mode with about equal numbers of ratings, as Abubaker et al. 2023 have them
// for comparison: the rows with the most ratings first, in random order where they have as many, each to the
// part with the fewest. The same as hypergraph::PartitionMethod::random of the row-wise model. Ratings are
// counted over all processes. Collective.
RowOwners random_by_ratings(const Comm& comm, const SparseTensor<double>& share, int mode, int num_parts,
                            std::uint64_t seed);

}  // namespace polyad
