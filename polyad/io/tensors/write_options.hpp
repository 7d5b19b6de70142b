#pragma once

#include <optional>

#include "polyad/io/bytes/existing.hpp"
#include "polyad/io/tensors/tensor_format.hpp"

namespace polyad::io {

// How a sparse tensor is written to a file.
struct WriteOptions {
  std::optional<TensorFormat> format = {};  // nothing: by the extension; a final .gz compresses text formats
  bool compress = false;                    // compress the blocks of a .ptb file
  Existing existing = Existing::replaced;   // what happens to a file that exists
};

}  // namespace polyad::io
