#pragma once

#include <algorithm>

#include "polyad/dense/dense_tensor.hpp"
#include "polyad/dense/redistribution.hpp"

namespace polyad::dense {

// What an execution really did, on this process: to be compared with what was planned.
struct DenseTally {
  Index words = 0;                       // counted from the messages, as planned_words counts them
  Index elements = 0, max_elements = 0;  // of arrays that the execution made: now, and at most

  void hold(Index count) {
    elements += count;
    max_elements = std::max(max_elements, elements);
  }
  void let_go(Index count) { elements -= count; }
};

// The tensor in the distribution in which the plan ends. Each step is one collective on the processes along
// some grid modes. Throws Error{internal} when the tensor is not distributed as the plan begins. Collective.
template <class Real>
DenseTensor<Real> redistribute(const DenseTensor<Real>& x, const RedistributionPlan& plan, DenseTally& tally);

// A process's part of the same, with its modes in another order, the fastest first. The last step puts them
// so: can_reorder(plan). Collective.
template <class Real>
Array<Real> redistribute_reordered(const DenseTensor<Real>& x, const RedistributionPlan& plan,
                                   const std::vector<int>& modes, DenseTally& tally);

// By the cheapest plan.
template <class Real>
DenseTensor<Real> redistribute(const DenseTensor<Real>& x, const TensorDistribution& to);

}  // namespace polyad::dense
