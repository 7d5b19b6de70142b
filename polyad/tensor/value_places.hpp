#pragma once

#include <vector>

#include "polyad/tensor/local_tensor.hpp"

namespace polyad {

// Positions of the values of some cells in a local tensor, so that they can
// be changed. A tensor of several trees has each value in each of them.
template <class Real>
class ValuePlaces {
 public:
  // Every cell must be an entry of the tensor.
  ValuePlaces(const LocalTensor<Real>& x, const SparseTensor<double, LocalIndex>& cells);

  // Sets the value of the k-th cell to the k-th value times a scale. x is the tensor, or a copy of it.
  void assign(LocalTensor<Real>& x, std::span<const double> values, double scale = 1) const;

 private:
  std::vector<Array<Index>> places_;  // [array of values][cell]
};

}  // namespace polyad
