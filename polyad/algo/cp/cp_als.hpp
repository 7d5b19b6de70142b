#pragma once

#include <optional>
#include <vector>

#include "polyad/algo/cp/cp_result.hpp"
#include "polyad/distributed/cp/dist_tensor.hpp"
#include "polyad/plan/als_plan.hpp"

namespace polyad {

struct CpAlsOptions : CpOptions {
  // [mode]: whether its factor must be nonnegative; empty: none. Such factors are updated
  // by coordinate descent from their current values (HALS) instead of least squares.
  std::vector<bool> nonnegative = {};
  std::optional<int> gpu = {};  // the GPU that computes; nothing: the processor
};

// CP decomposition by alternating least squares (docs/algorithms.md). Up to rounding, the trajectory depends
// only on the tensor, the options and the mode order of the plan; processes may have different plans with the
// same mode order. `start` holds the rows that this process owns of a model with at most as many components,
// of columns with 2-norm 1, from which the iteration continues; further components, or all without it, are
// random at first. `control` says what it goes on from instead. Throws Error{bad_input} if numbers exceed the
// range of Real, and Error{internal} if the words sent differ from those that follow from the distribution.
// Collective.
template <class Real>
CpResult<Real> cp_als(const DistTensor<Real>& x, const AlsPlan& plan, const CpAlsOptions& options,
                      const CpObserver& observe = {}, const Kruskal<Real>* start = nullptr,
                      const CpControl<Real>& control = {});

}  // namespace polyad
