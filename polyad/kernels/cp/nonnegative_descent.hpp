#pragma once

#include <algorithm>
#include <cmath>

#include "polyad/base/on_device.hpp"
#include "polyad/base/types.hpp"

namespace polyad::kernels {

// When coordinate descent ends: after so many sweeps, or when none of the steps of a sweep is larger than
// `little` times the largest entry.
template <class Real>
struct DescentEnd {
  int max_sweeps;
  Real little;
};

// Few sweeps, since the other factors change too; until changes are small relative to the largest entry:
// whether entries that are zero up to rounding change depends on the format.
template <class Real>
inline constexpr DescentEnd<Real> usual_descent_end{.max_sweeps = 10, .little = Real(1e-3)};

// The best value of one entry of a row for the current values of the others, and how far it is away.
template <class Real>
struct EntryStep {
  Real better, step;
};
// rest: of m - a V, its entry. of_v: that of the diagonal of V; if it is zero, so is the entry.
template <class Real>
POLYAD_ON_DEVICE EntryStep<Real> best_entry(Real a, Real rest, Real of_v) {
  const Real x = of_v > 0 ? a + rest / of_v : Real{};
  const Real better = x < 0 ? Real{} : x;
  return {better, better - a};
}

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
      const auto [better, step] = best_entry<Real>(a[r], rest[r], diagonal(r));
      largest = std::max(largest, better);
      if (step == 0) continue;
      farthest = std::max(farthest, std::abs(step));
      step_along(step, r);
      a[r] = better;
    }
  }
}

}  // namespace polyad::kernels
