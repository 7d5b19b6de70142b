#pragma once

#include <vector>

#include "polyad/algo/cp_result.hpp"
#include "polyad/distributed/cp/dist_tensor.hpp"
#include "polyad/plan/als_plan.hpp"

namespace polyad {

struct CpAlsOptions : CpOptions {
  // [mode]: whether its factor must have no negative entry; empty: none must. Such modes are updated by
  // coordinate descent from where they are (HALS) instead of solving for the least squares.
  std::vector<bool> nonnegative = {};
};

// The CP decomposition by alternating least squares (ALGORITHMS, section 1). The trajectory depends on the
// tensor, the options and the plan's mode order, and but for rounding on nothing else; every process may
// have a plan of its own, with the same mode order. With `start`, the rows that this process owns of a model
// with as many components, it goes on from there instead of from random numbers. Throws Error{bad_input} when
// numbers leave the range of Real, and Error{internal} when more or less was sent than the distribution says.
// Collective.
template <class Real>
CpResult<Real> cp_als(const DistTensor<Real>& x, const AlsPlan& plan, const CpAlsOptions& options,
                      const CpObserver& observe = {}, const Kruskal<Real>* start = nullptr);

}  // namespace polyad
