#pragma once

#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// Reads the Tensor Toolbox's dense `tensor` and `matrix` texts as the sparse tensor of their nonzero
// values, or with all values if they are coordinates of a model. The coordinates of a value follow
// from its position among all values, so every share reads the whole text and keeps its part.
Slab read_dense_text(const InputFile& file, const FileHead& head, const ReadOptions& options);

}  // namespace polyad::io
