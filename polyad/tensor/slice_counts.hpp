#pragma once

#include <array>
#include <span>

#include "polyad/base/array.hpp"
#include "polyad/base/types.hpp"

namespace polyad {

// The slices of one mode that hold nonzeros, ascending, and how many each holds. Never longer than the
// number of nonzeros, however long the mode is.
struct SliceCounts {
  Array<Index> slices;
  Array<Index> counts;

  friend bool operator==(const SliceCounts&, const SliceCounts&) = default;
};

// Counts the indices of one mode, each in [0, extent), by all threads.
SliceCounts count_slices(std::span<const Index> indices, Index extent);

// How the nonzeros of a mode spread over its slices. Summaries of disjoint sets of slices add up.
struct SliceSummary {
  Index nonempty = 0;
  Index nonzeros = 0;
  Index max = 0;
  std::array<Index, 64> histogram{};  // [b]: slices with 2^b to 2^(b+1) - 1 nonzeros
};
SliceSummary summarise(const SliceCounts& slices);
SliceSummary operator+(const SliceSummary& a, const SliceSummary& b);

}  // namespace polyad
