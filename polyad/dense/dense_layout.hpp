#pragma once

#include <vector>

#include "polyad/dense/tensor_distribution.hpp"

namespace polyad::dense {

// Which elements of a dense tensor every process of a grid holds. Needs no processes.
struct DenseLayout {
  GridShape grid;
  std::vector<Index> extents;
  TensorDistribution distribution;

  int order() const { return int(extents.size()); }
  friend bool operator==(const DenseLayout&, const DenseLayout&) = default;
};

// Throws Error{bad_option} if the distribution is invalid or has another number of
// modes than extents, and Error{resource} for a tensor of more than 2^62 elements.
DenseLayout make_layout(const GridShape& grid, std::vector<Index> extents, TensorDistribution distribution);

bool holds_anything(const DenseLayout& layout, int rank);
// The indices of every mode that a process holds; empty on processes outside the hyperplane.
std::vector<CyclicRange> share_of(const DenseLayout& layout, int rank);
std::vector<Index> extents_of(const std::vector<CyclicRange>& share);
// The distribution of the same layout with every element on one process: of several that have a copy, the one
// with the coordinate 0 in the grid modes that distribute nothing keeps it.
TensorDistribution with_single_owners(const DenseLayout& layout);
// The product; 1 without extents.
Index num_elements(const std::vector<Index>& extents);
Index local_size(const DenseLayout& layout, int rank);
// Maximum number of elements of a process.
Index largest_local_size(const DenseLayout& layout);

}  // namespace polyad::dense
