#pragma once

#include <span>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad::kernels {

// One loop of a copy between strided arrays: `extent` steps of from_stride in one and to_stride in the other.
struct CopyLoop {
  Index extent = 1, from_stride = 0, to_stride = 0;
};

enum class CopyMode { replace, add };

// to[...] = from[...], or += from[...], over a nest of loops in any order; used for packing,
// unpacking and permuting. Loops are ordered by the memory that is written, and those along different
// axes in the two arrays are tiled to stay in cache. Destinations must be distinct. Uses all threads.
template <class Real>
void copy_block(std::vector<CopyLoop> loops, const Real* from, Real* to, CopyMode mode = CopyMode::replace);

// Strides of an array whose first mode varies fastest.
std::vector<Index> column_major_strides(std::span<const Index> extents);

}  // namespace polyad::kernels
