#pragma once

#include <vector>

#include "polyad/comm/comm.hpp"
#include "polyad/tensor/slice_counts.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// Statistics of a tensor after duplicates are summed.
struct TensorStatistics {
  std::vector<Index> dims;
  Index num_nonzeros = 0;
  Index num_duplicates = 0;  // nonzeros that were added to an earlier one
  Index num_zeros = 0;       // stored values that are 0
  double min_value = 0, max_value = 0;
  double norm = 0;                  // 2-norm of all values
  std::vector<SliceSummary> modes;  // [mode]

  int order() const { return int(dims.size()); }
  double density() const;
};

// Statistics of a tensor of which every process passes a share, with the extents of the
// whole. Nonzeros are redistributed once to sum duplicates, and then freed. Collective.
TensorStatistics compute_statistics(const Comm& comm, SparseTensor<double> share);

}  // namespace polyad
