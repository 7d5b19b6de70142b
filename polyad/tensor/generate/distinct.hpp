#pragma once

#include "polyad/tensor/generate/generate.hpp"

namespace polyad {

// The first num_nonzeros distinct coordinates that are drawn, sorted;
// the values are the numbers of the draws that first produced them.
SparseTensor<double> distinct_draws(const SkewedOptions& options);

}  // namespace polyad
