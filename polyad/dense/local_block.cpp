#include "polyad/dense/local_block.hpp"

namespace polyad::dense {

LocalBlock common_block(const std::vector<CyclicRange>& share, std::span<const Index> strides,
                        const std::vector<CyclicRange>& other) {
  LocalBlock block;
  for (std::size_t m = 0; m < share.size(); ++m) {
    const auto common = intersection(share[m], other[m]);
    block.extents.push_back(common.count);
    block.strides.push_back(common.step / share[m].step * strides[m]);
    if (common.count > 0) block.offset += share[m].local(common.first) * strides[m];
  }
  return block;
}

LocalBlock common_block(const std::vector<CyclicRange>& share, const std::vector<CyclicRange>& other) {
  return common_block(share, kernels::column_major_strides(extents_of(share)), other);
}

LocalBlock packed_block(const LocalBlock& block) {
  return {0, block.extents, kernels::column_major_strides(block.extents)};
}

}  // namespace polyad::dense
