#pragma once

#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// Reads lines of indices and a value, as in most text formats, with all threads.
Slab read_coordinate_text(const InputFile& file, const FileHead& head, const ReadOptions& options);
// The same in slabs of about options.slab_bytes of text each.
void read_coordinate_text(const InputFile& file, const FileHead& head, const ReadOptions& options,
                          const SlabFn& fn);

}  // namespace polyad::io
