#pragma once

#include <span>
#include <vector>

#include "polyad/distributed/cp/dist_tensor.hpp"

namespace polyad {

struct ModelForm {
  Index num_components;           // without padding
  double unit;                    // factor for the weights
  std::vector<bool> nonnegative;  // [mode]; empty: none
};

// The model of a finished run in the form of CpResult::model, from the factors with
// all rows of this process and the Gram matrices over all processes. Collective.
template <class Real>
Kruskal<Real> finish_model(const DistTensor<Real>& x, std::vector<Matrix<Real>> factors,
                           std::span<const Matrix<double>> grams, const ModelForm& form);

}  // namespace polyad
