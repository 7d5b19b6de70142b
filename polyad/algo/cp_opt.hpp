#pragma once

#include "polyad/algo/cp_result.hpp"
#include "polyad/distributed/cp/dist_tensor.hpp"

namespace polyad {

// Steps that are remembered, each by two vectors as long as all factors together.
inline constexpr int num_lbfgs_pairs = 7;
// Such vectors that a run needs beside the factors: the pairs, where it is, the gradient there and at the
// place that is tried, and the direction.
inline constexpr int num_cp_opt_vectors = 2 * num_lbfgs_pairs + 4;

// The CP decomposition by minimising over all factors at once (Acar, Dunlavy and Kolda, J. Chemometrics 25,
// 2011; ALGORITHMS, section 1): limited-memory BFGS with a line search on CpObjective. An iteration is a
// step, which takes one evaluation of the objective, sometimes a few; the first also evaluates the start. The
// fit never falls but for rounding. It ends where the fit stands still, or where rounding leaves nothing to
// gain. The trajectory depends on the tensor and the options, and but for rounding on nothing else. Throws
// Error{bad_input} when numbers leave the range of Real, and Error{internal} when more or less was sent than
// the distribution says. Collective.
template <class Real>
CpResult<Real> cp_opt(const DistTensor<Real>& x, const CpOptions& options, const CpObserver& observe = {});

}  // namespace polyad
