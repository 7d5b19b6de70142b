#pragma once

#include "polyad/io/tensors/loaded_tensor.hpp"

namespace polyad {

// A sparse tensor with its labels. On several processes each holds a share of the nonzeros, under the dims of
// the whole tensor: any share, in any order; tasks move nonzeros to where they are needed.
using Tensor = io::LoadedTensor;

// From nonzeros in memory. `labels` has an entry per mode, or none at all; an entry may be empty. Throws
// Error{bad_input} for a tensor that is not of order 2 to 16, for indices outside of the dims, values that
// are not finite, more labels than indices, and labels with line breaks.
Tensor make_tensor(SparseTensor<double> nonzeros, std::vector<ModeLabels> labels = {});

}  // namespace polyad
