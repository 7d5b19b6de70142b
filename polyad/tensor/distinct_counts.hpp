#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// A set of modes: bit m is mode m.
using ModeSet = std::uint32_t;

// Estimates the number of distinct values (HyperLogLog; Flajolet et al.
// 2007), to about 2 %, from hashes of the values. Sketches of parts can be
// merged to that of the whole; the estimate does not depend on the division.
class DistinctSketch {
 public:
  static constexpr int index_bits = 12;
  void add(std::uint64_t hash);
  void merge(const DistinctSketch& other);
  double estimate() const;
  // Registers, whose maximum is taken when merging.
  std::span<std::uint8_t> registers() { return ranks_; }

 private:
  std::array<std::uint8_t, std::size_t(1) << index_bits> ranks_{};
};

// Sketches of the distinct index tuples of the nonzeros in each set of modes:
// the number of nodes of a tree level with these modes above. rows[mode][local
// row]: the global row, so that sketches of several processes can be merged.
template <class Real>
std::vector<DistinctSketch> sketch_distinct(const SparseTensor<Real, LocalIndex>& x,
                                            std::span<const std::span<const Index>> rows,
                                            std::span<const ModeSet> sets);
// The same if the indices are global rows.
std::vector<DistinctSketch> sketch_distinct(const SparseTensor<double>& x, std::span<const ModeSet> sets);

// Number of blocks in the HiCOO format.
template <class Real>
double estimate_blocks(const SparseTensor<Real, LocalIndex>& x);

}  // namespace polyad
