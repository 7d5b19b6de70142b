#pragma once

#include <vector>

#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// Some of a slab's nonzeros, as one stretch of text yields them.
struct SlabBlock {
  SlabBlock(int order, Index capacity);

  // Part p wrote counts[p] nonzeros from begin[p] on: moves them together and keeps only them.
  void close_gaps(const std::vector<Index>& begin, const std::vector<Index>& counts);

  std::vector<Array<Index>> indices;
  Array<double> values;
};

// Blocks one after the other, put together at the end. A block's arrays are freed as soon as they are
// copied, so the peak is the slab and one block, not twice the slab.
class SlabBlocks {
 public:
  explicit SlabBlocks(int order) : order_(order) {}

  void append(SlabBlock&& block) { blocks_.push_back(std::move(block)); }
  void concatenate(Slab& slab) &&;

 private:
  template <class T, class Column>
  Array<T> concatenated(Column column);

  int order_;
  std::vector<SlabBlock> blocks_;
};

}  // namespace polyad::io
