#pragma once

#include <span>
#include <vector>

#include "polyad/dense/dense_layout.hpp"
#include "polyad/kernels/dense/block_copy.hpp"

namespace polyad::dense {

// A rectangular part of an array, as offsets and strides.
struct LocalBlock {
  Index offset = 0;
  std::vector<Index> extents, strides;

  Index size() const { return num_elements(extents); }
};

// The elements of `share` that are also in `other`, within an array
// that holds `share` with these strides. Both are shares of one tensor.
LocalBlock common_block(const std::vector<CyclicRange>& share, std::span<const Index> strides,
                        const std::vector<CyclicRange>& other);
// Of an array whose first mode varies fastest.
LocalBlock common_block(const std::vector<CyclicRange>& share, const std::vector<CyclicRange>& other);

// The block as an array of its own, first mode fastest, as in messages.
LocalBlock packed_block(const LocalBlock& block);

// Copies between blocks of the same extents in two arrays.
template <class Real>
void copy(const LocalBlock& from_block, const Real* from, const LocalBlock& to_block, Real* to) {
  if (from_block.size() == 0) return;
  std::vector<kernels::CopyLoop> loops;
  for (std::size_t m = 0; m < from_block.extents.size(); ++m)
    loops.push_back({from_block.extents[m], from_block.strides[m], to_block.strides[m]});
  copy_block(std::move(loops), from + from_block.offset, to + to_block.offset);
}

}  // namespace polyad::dense
