#pragma once

#include "polyad/tensor/local_tensor.hpp"

namespace polyad {

// The nonzeros of a tensor in any format as coordinates, in the order of the format.
template <class Real>
SparseTensor<double, LocalIndex> coordinates_of(const LocalTensor<Real>& x);

}  // namespace polyad
