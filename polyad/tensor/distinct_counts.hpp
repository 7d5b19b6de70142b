#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "polyad/tensor/compact.hpp"

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

 private:
  std::array<std::uint8_t, std::size_t(1) << index_bits> ranks_{};
};

// How many distinct tuples of indices the nonzeros have in each set of modes: the number of nodes of a
// tree's level, whose path has these modes.
template <class Real>
std::vector<double> estimate_distinct(const CompactTensor<Real>& x, std::span<const ModeSet> sets);

// How many blocks the HiCOO format would have.
template <class Real>
double estimate_blocks(const CompactTensor<Real>& x);

}  // namespace polyad
