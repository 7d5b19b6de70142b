#pragma once

#include "polyad/tensor/generate/generate.hpp"

namespace polyad {

// The first num_nonzeros distinct coordinates that the law draws, sorted; the values are the numbers of
// the draws that were the first to hit them.
SparseTensor<double> distinct_draws(const SkewedOptions& options);

}  // namespace polyad
