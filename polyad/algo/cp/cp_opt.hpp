#pragma once

#include "polyad/algo/cp/cp_result.hpp"
#include "polyad/distributed/cp/dist_tensor.hpp"
#include "polyad/plan/als_plan.hpp"

namespace polyad {

// Number of steps that are stored, each as two vectors as long as all factors together.
inline constexpr int num_lbfgs_pairs = 7;
// Number of such vectors in addition to the factors: the pairs, the point,
// the gradients at the point and at the trial point, and the direction.
inline constexpr int num_cp_opt_vectors = 2 * num_lbfgs_pairs + 4;

// CP decomposition by minimisation over all factors at once (Acar, Dunlavy and Kolda 2011;
// docs/algorithms.md): limited-memory BFGS with a line search on CpObjective. An iteration is one step, which
// takes one evaluation of the objective or a few; the first iteration also evaluates the initial factors. The
// fit never decreases, except by rounding. The run ends when the fit no longer changes or rounding permits no
// further progress. Up to rounding, the trajectory depends only on the tensor and the options. Throws
// Error{bad_input} if numbers exceed the range of Real, and Error{internal} if the words sent differ from
// those that follow from the distribution. `plan`: see plan_evaluation. `start` and `control` as in cp_als.
// Collective.
template <class Real>
CpResult<Real> cp_opt(const DistTensor<Real>& x, const AlsPlan& plan, const CpOptions& options,
                      const CpObserver& observe = {}, const Kruskal<Real>* start = nullptr,
                      const CpControl<Real>& control = {});

}  // namespace polyad
