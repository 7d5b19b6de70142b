#pragma once

#include <algorithm>
#include <cmath>

#include "polyad/base/types.hpp"

namespace polyad::kernels {

// When coordinate descent ends: after so many sweeps, or when none of the steps of a sweep is larger than
// `little` times the largest entry.
template <class Real>
struct DescentEnd {
  int max_sweeps;
  Real little;
};

// Coordinate descent for min 1/2 a V a^T - m a^T over a >= 0 (HALS for one row) from a row a >= 0: each
// component in turn is set to its optimum for the current values of the others. No step raises the
// objective. `rest`: m - a V, kept up to date by step_along(x, r), which subtracts x times the r-th row of V.
// diagonal(r): of V; a component for which it is zero becomes zero.
template <class Real, class Diagonal, class StepAlong>
[[gnu::always_inline]] inline void descend_nonnegative(Index n, Real* a, const Real* rest,
                                                       const DescentEnd<Real>& end, Diagonal diagonal,
                                                       StepAlong step_along) {
  Real farthest = 1, largest = 0;
  for (int sweep = 0; sweep < end.max_sweeps && farthest > end.little * largest; ++sweep) {
    farthest = largest = 0;
    for (Index r = 0; r < n; ++r) {
      const Real of_v = diagonal(r);
      const Real better = of_v > 0 ? std::max(a[r] + rest[r] / of_v, Real{}) : Real{};
      const Real step = better - a[r];
      largest = std::max(largest, better);
      if (step == 0) continue;
      farthest = std::max(farthest, std::abs(step));
      step_along(step, r);
      a[r] = better;
    }
  }
}

}  // namespace polyad::kernels
