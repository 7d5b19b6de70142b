#pragma once

#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// Reads the lines of indices and a value that most text formats consist of, with all threads.
Slab read_coordinate_text(const InputFile& file, const FileHead& head, const ReadOptions& options);
// The same in slabs, one after the other, of about options.slab_bytes of text each.
void read_coordinate_text(const InputFile& file, const FileHead& head, const ReadOptions& options,
                          const SlabFn& fn);

}  // namespace polyad::io
