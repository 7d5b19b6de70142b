#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// Hierarchical coordinates (Li, Sun and Vuduc 2018): nonzeros in blocks of 128 indices per mode,
// along a Z-order curve. A block stores its position once, and one byte per mode for each nonzero.
template <class Real>
struct HicooTensor {
  static constexpr int block_bits = 7;

  std::vector<Index> extents;
  Array<Index> first;                        // [block]: its first nonzero; one more than blocks
  std::vector<Array<LocalIndex>> places;     // [mode][block]: index >> block_bits
  std::vector<Array<std::uint8_t>> offsets;  // [mode][nonzero]: the low bits of the index
  Array<Real> values;

  // [mode]: the blocks with the same position in that mode, so that threads can own rows.
  struct BlockRows {
    Array<Index> first;        // [position]: start of its list; one more than positions
    Array<LocalIndex> blocks;  // position by position, along the curve
  };
  std::vector<BlockRows> rows;

  int order() const { return int(extents.size()); }
  Index num_blocks() const { return std::ssize(first) - 1; }
  Index num_nonzeros() const { return std::ssize(values); }
  Index bytes() const;
};

// Throws Error{resource} for more than 2^32 - 1 blocks.
template <class Real>
HicooTensor<Real> build_hicoo(SparseTensor<Real, LocalIndex> x);

// Memory of the format in bytes, for a number of blocks.
Index hicoo_bytes(std::span<const Index> extents, Index num_nonzeros, Index num_blocks, Index value_bytes);

}  // namespace polyad
