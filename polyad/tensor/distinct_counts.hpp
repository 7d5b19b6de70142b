#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// Modes as bits: bit m is mode m.
using ModeSet = std::uint32_t;

// Estimates how many distinct values were added (HyperLogLog; Flajolet et al. 2007), to about 2 %, from the
// hashes of the values. Sketches of parts merge to that of the whole, so the estimate does not depend on
// who saw what.
class DistinctSketch {
 public:
  static constexpr int index_bits = 12;
  void add(std::uint64_t hash);
  void merge(const DistinctSketch& other);
  double estimate() const;
  // What merging takes the maximum of.
  std::span<std::uint8_t> registers() { return ranks_; }

 private:
  std::array<std::uint8_t, std::size_t(1) << index_bits> ranks_{};
};

// Sketches of the distinct tuples of indices that the nonzeros have in each set of modes: as many as a
// tree's level has nodes whose path has these modes. rows[mode][local row]: the global row, so that
// the sketches of several processes merge.
template <class Real>
std::vector<DistinctSketch> sketch_distinct(const SparseTensor<Real, LocalIndex>& x,
                                            std::span<const std::span<const Index>> rows,
                                            std::span<const ModeSet> sets);

// How many blocks the HiCOO format would have.
template <class Real>
double estimate_blocks(const SparseTensor<Real, LocalIndex>& x);

}  // namespace polyad
