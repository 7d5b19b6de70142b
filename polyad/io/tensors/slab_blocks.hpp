#pragma once

#include <vector>

#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// Some nonzeros of a slab, from one range of text.
struct SlabBlock {
  SlabBlock(int order, Index capacity);

  // Part p has written counts[p] nonzeros starting at begin[p]: moves them together and drops the rest.
  void close_gaps(const std::vector<Index>& begin, const std::vector<Index>& counts);

  std::vector<Array<Index>> indices;
  Array<double> values;
};

// Blocks that are concatenated at the end. The arrays of a block are freed as soon as
// they are copied, so that the peak is the slab and one block, not twice the slab.
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
