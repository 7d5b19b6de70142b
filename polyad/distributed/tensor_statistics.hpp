#pragma once

#include <vector>

#include "polyad/comm/comm.hpp"
#include "polyad/tensor/slice_counts.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// What a tensor looks like, duplicates added up.
struct TensorStatistics {
  std::vector<Index> dims;
  Index num_nonzeros = 0;
  Index num_duplicates = 0;  // nonzeros that were added to others
  Index num_zeros = 0;       // stored values that are 0
  double min_value = 0, max_value = 0;
  double norm = 0;                  // 2-norm of all values
  std::vector<SliceSummary> modes;  // per mode

  int order() const { return int(dims.size()); }
  double density() const;
};

// Collective. Every process brings some of the nonzeros, under the same dims, and gets the statistics of
// all. The nonzeros move once, so that equal coordinates meet, and are gone afterwards.
TensorStatistics compute_statistics(const Comm& comm, SparseTensor<double> share);

}  // namespace polyad
