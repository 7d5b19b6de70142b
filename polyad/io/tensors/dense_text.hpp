#pragma once

#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// Reads the Tensor Toolbox's dense `tensor` and `matrix` texts as the sparse tensor of their nonzero
// values, or with all values where they are coordinates of a model. A value's coordinates follow from its
// place among all values, so every share reads the whole text and keeps its part.
Slab read_dense_text(const InputFile& file, const FileHead& head, const ReadOptions& options);

}  // namespace polyad::io
