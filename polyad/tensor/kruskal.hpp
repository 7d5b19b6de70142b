#pragma once

#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/tensor/value_rules.hpp"

namespace polyad {

// A sum of rank-one tensors: component r is weights[r] times the outer product of the r-th columns of
// the factors. factors[m] has a row per index of mode m and a column per component.
template <class Real>
struct Kruskal {
  std::vector<double> weights;  // in double precision: they may be much larger than any entry
  std::vector<Matrix<Real>> factors;
  ValuePreparation prepared = {};  // of the tensor that it was fitted to, where that is known

  int order() const { return int(factors.size()); }
  Index num_components() const { return Index(weights.size()); }
  friend bool operator==(const Kruskal&, const Kruskal&) = default;
};

}  // namespace polyad
