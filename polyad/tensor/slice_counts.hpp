#pragma once

#include <array>
#include <span>

#include "polyad/base/array.hpp"
#include "polyad/base/types.hpp"

namespace polyad {

// The nonempty slices of one mode, ascending, and their numbers of nonzeros.
// Never longer than the number of nonzeros, whatever the extent of the mode.
struct SliceCounts {
  Array<Index> slices;
  Array<Index> counts;

  friend bool operator==(const SliceCounts&, const SliceCounts&) = default;
};

// Counts the indices of one mode, each in [0, extent), with all threads.
SliceCounts count_slices(std::span<const Index> indices, Index extent);

// Statistics of the nonzeros per slice of a mode. Those of disjoint sets of slices can be added.
struct SliceSummary {
  Index nonempty = 0;
  Index nonzeros = 0;
  Index max = 0;
  std::array<Index, 64> histogram{};  // [b]: number of slices with 2^b to 2^(b+1) - 1 nonzeros
};
SliceSummary summarise(const SliceCounts& slices);
SliceSummary operator+(const SliceSummary& a, const SliceSummary& b);

}  // namespace polyad
