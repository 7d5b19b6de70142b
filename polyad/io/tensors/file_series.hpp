#pragma once

#include <filesystem>
#include <vector>

#include "polyad/io/tensors/loaded_tensor.hpp"
#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// Several files that are read as one tensor, as if the lines of one followed those of the other: all of one
// format, tables with the same columns. A single file is read as by read_slab.
struct SeriesSlab {
  Slab slab;  // of all files, in their order; the head is that of the first, with the dims of all
  std::vector<FileHead> heads;   // [file]
  std::vector<SlabFacts> facts;  // [file], of this share
};

// Reads the share of a process: consecutive parts of consecutive files. Throws Error{bad_input} for a file
// that does not fit to the first one. Problems name their file.
SeriesSlab read_series(const std::vector<std::filesystem::path>& files, const ReadOptions& options);

// Checks of each file what depends on all of it, and sets what depends on all files; see check_count. `whole`
// are the facts of each file over all shares. To be called before the slab is assembled.
void settle_series(SeriesSlab& series, const std::vector<SlabFacts>& whole, const ReadOptions& options);

// A file after the first one. Where the options state no format, it is read in that of the first: throws
// Error{bad_input} if it is of another.
FileHead recognise_next(const InputFile& file, const FileHead& first, const ReadOptions& options);

// How files after the first one are read: as that was recognised. And whether one fits to it: throws
// Error{bad_input} if not.
ReadOptions options_like(const FileHead& first, const ReadOptions& options);
void check_fits(const FileHead& head, const FileHead& first);

// Everything, for one process.
LoadedTensor read_tensor_series(const std::vector<std::filesystem::path>& files, const ReadOptions& options);

}  // namespace polyad::io
