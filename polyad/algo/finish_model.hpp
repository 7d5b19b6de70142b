#pragma once

#include <span>
#include <vector>

#include "polyad/distributed/cp/dist_tensor.hpp"

namespace polyad {

struct ModelForm {
  Index num_components;           // without padding
  double unit;                    // what the weights are to be multiplied by
  std::vector<bool> nonnegative;  // [mode]; empty: none
};

// The model of a run that has ended, in the form of CpResult::model, from the factors with all rows that this
// process has, and the Gram matrices of the whole. Collective.
template <class Real>
Kruskal<Real> finish_model(const DistTensor<Real>& x, std::vector<Matrix<Real>> factors,
                           std::span<const Matrix<double>> grams, const ModelForm& form);

}  // namespace polyad
