#pragma once

#include <span>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/gpu/chunk_sums.hpp"
#include "polyad/tensor/csf.hpp"

namespace polyad::gpu {

// Nonzeros of a chunk: enough that few slices are cut, and few enough that all threads of a GPU have some.
inline constexpr Index usual_chunk_size = 64;
// Carries that one thread adds up; of more, sums of so many are added.
inline constexpr LocalIndex carries_per_sum = 32;

// The arrays of a ChunkView, in the memory of the machine; and how carries are added up: in rounds, in an
// order that depends on the tree only, so that results are bitwise reproducible.
template <class Real>
struct ChunkedNonzeros {
  // chunk_size: a multiple of batch_size.
  explicit ChunkedNonzeros(const CsfTree<Real>& tree, Index chunk_size = usual_chunk_size);

  int order;
  Index num_chunks, num_slices, num_carries = 0;
  Index num_gathered = 0;  // rows of factors that a pass reads
  Index chunk_size;
  Array<Real> values;
  std::vector<Array<LocalIndex>> ids;  // [level], of the root empty
  Array<std::uint8_t> closing;
  std::vector<LocalIndex> first_slice, rows;
  std::vector<std::int32_t> head, tail;
  std::vector<std::vector<CarrySum>> rounds;  // whose targets are carries
  std::vector<CarrySum> row_sums;             // then: whose targets are rows

 private:
  void copy_levels(const CsfTree<Real>& tree);
  void cut_slices(const CsfTree<Real>& tree);
  void plan_sums(std::vector<CarrySum> pieces);
};

// Memory of these arrays.
Index chunked_bytes(int order, Index num_nonzeros, Index num_slices, Index value_bytes);

// Memory on a GPU, at most, for the passes of ALS over all modes (see AlsPasses).
struct ModeCounts {
  Index num_nonzeros, num_rows;
};
Index passes_bytes(std::span<const ModeCounts> modes, Index num_columns, Index value_bytes);

}  // namespace polyad::gpu
