#pragma once

#include <algorithm>
#include <numeric>

#include "polyad/base/types.hpp"

namespace polyad::dense {

// The indices first, first + step, ..., `count` of them: those
// of a process for a mode that is distributed cyclically.
struct CyclicRange {
  Index first = 0, step = 1, count = 0;

  Index operator[](Index local) const { return first + local * step; }
  // Position of an index within the range.
  Index local(Index global) const { return (global - first) / step; }

  friend bool operator==(const CyclicRange&, const CyclicRange&) = default;
};

// The indices residue, residue + step, ... below `extent`.
constexpr CyclicRange cyclic_range(Index extent, Index residue, Index step) {
  return {residue, step, residue < extent ? (extent - residue + step - 1) / step : 0};
}

// The indices that two ranges have in common: again a range, with the least common multiple of the steps.
constexpr CyclicRange intersection(const CyclicRange& a, const CyclicRange& b) {
  if (a.count == 0 || b.count == 0) return {};
  const auto& fine = a.step <= b.step ? a : b;
  const auto& coarse = a.step <= b.step ? b : a;
  const Index period = fine.step / std::gcd(fine.step, coarse.step);  // of coarse indices, modulo fine.step
  Index first = coarse.first;
  if (first < fine.first) first += (fine.first - first + coarse.step - 1) / coarse.step * coarse.step;
  for (Index tried = 0; (first - fine.first) % fine.step != 0; first += coarse.step)
    if (++tried == period) return {};
  const Index last = std::min(a[a.count - 1], b[b.count - 1]);
  const Index step = period * coarse.step;
  return {first, step, first <= last ? (last - first) / step + 1 : 0};
}

}  // namespace polyad::dense
