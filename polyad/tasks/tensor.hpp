#pragma once

#include "polyad/io/tensors/loaded_tensor.hpp"

namespace polyad {

// A sparse tensor with its labels. On several processes each holds a share of the nonzeros, under the dims of
// the whole tensor: any share, in any order; tasks move nonzeros to where they are needed.
using Tensor = io::LoadedTensor;

// From nonzeros in memory. `labels` has an entry per mode, or none at all.
Tensor make_tensor(SparseTensor<double> nonzeros, std::vector<ModeLabels> labels = {});

}  // namespace polyad
