#pragma once

#include <algorithm>

#include "polyad/dense/dense_tensor.hpp"
#include "polyad/dense/redistribution.hpp"

namespace polyad::dense {

// What an execution has done on this process, for comparison with the plan.
struct DenseTally {
  Index words = 0;                       // counted from messages, as planned_words counts them
  Index elements = 0, max_elements = 0;  // of arrays allocated by the execution: now, and at the peak

  void hold(Index count) {
    elements += count;
    max_elements = std::max(max_elements, elements);
  }
  void let_go(Index count) { elements -= count; }
};

// Redistributes a tensor by a plan, whose steps are collectives among processes along grid modes.
// Throws Error{internal} if the tensor is not distributed as at the start of the plan. Collective.
template <class Real>
DenseTensor<Real> redistribute(const DenseTensor<Real>& x, const RedistributionPlan& plan, DenseTally& tally);

// The same, with the modes of the local part in another order,
// the fastest first. Requires can_reorder(plan). Collective.
template <class Real>
Array<Real> redistribute_reordered(const DenseTensor<Real>& x, const RedistributionPlan& plan,
                                   const std::vector<int>& modes, DenseTally& tally);

// The same with the cheapest plan.
template <class Real>
DenseTensor<Real> redistribute(const DenseTensor<Real>& x, const TensorDistribution& to);

}  // namespace polyad::dense
