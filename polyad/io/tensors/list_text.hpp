#pragma once

#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// Reads texts with several entries per line. Adjacency lists: the name of a row, then those of its columns,
// each with the value 1. Wide tables: a row per line and a column per index of the last mode, with a value in
// every cell that is not missing; columns that name the row are the other modes, and without any of them rows
// have their numbers. Every share scans the whole text, and takes every parts-th line.
Slab read_list_text(const InputFile& file, const FileHead& head, const ReadOptions& options);

}  // namespace polyad::io
