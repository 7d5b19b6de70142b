#pragma once

#include <vector>

#include "polyad/distributed/cp/dist_tensor.hpp"
#include "polyad/kernels/cp/row_update.hpp"
#include "polyad/plan/als_plan.hpp"

namespace polyad {

// The MTTKRPs of an evaluation of CpObjective by the steps of a plan. How threads share the trees, and the
// rows that threads add to, are the same in every evaluation, and made once.
template <class Real>
class EvaluationPasses {
 public:
  // The plan consists of steps of the kinds levels and mttkrp, and is for the format of x.
  EvaluationPasses(const DistTensor<Real>& x, const AlsPlan& plan, Index num_columns);

  std::size_t num_steps() const { return plan_.steps.size(); }
  std::vector<int> modes_of(std::size_t step) const;  // whose MTTKRPs a step computes
  // Puts the local MTTKRPs of its modes into m. factors, m: [mode].
  void run(std::size_t step, const std::vector<Matrix<Real>>& factors, std::vector<Matrix<Real>>& m);

 private:
  const CsfTree<Real>& tree(const AlsStep& step) const;

  const DistTensor<Real>& x_;
  AlsPlan plan_;
  std::vector<std::vector<Index>> cuts_;           // [step]
  std::vector<kernels::PartialRows<Real>> parts_;  // [level - 1]
};

}  // namespace polyad
