#pragma once

#include <span>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad::kernels {

// One loop of a copy between two strided arrays: `extent` steps of from_stride here and to_stride there.
struct CopyLoop {
  Index extent = 1, from_stride = 0, to_stride = 0;
};

enum class CopyMode { replace, add };

// to[...] = from[...], or += from[...], over a nest of loops in any order: packing, unpacking and permuting
// are all this. Loops are put in the order of the memory that is written, and those that go along different
// axes here and there are done in tiles that stay in cache. Places written to are distinct. Uses all threads.
template <class Real>
void copy_block(std::vector<CopyLoop> loops, const Real* from, Real* to, CopyMode mode = CopyMode::replace);

// The strides of an array with the first mode fastest.
std::vector<Index> column_major_strides(std::span<const Index> extents);

}  // namespace polyad::kernels
