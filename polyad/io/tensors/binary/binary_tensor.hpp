#pragma once

#include <span>
#include <string>

#include "polyad/io/bytes/output_file.hpp"
#include "polyad/io/tensors/slab.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad::io {

// The binary formats. A share is a range of nonzeros; headers are binding, and every index is checked.
Slab read_splatt(const InputFile& file, const FileHead& head, const ReadOptions& options);
Slab read_genten(const InputFile& file, const FileHead& head, const ReadOptions& options);
Slab read_ptb(const InputFile& file, const FileHead& head, const ReadOptions& options);

enum class BlockCompression { none, deflate };

void write_splatt(OutputFile& out, const SparseTensor<double>& x);
void write_genten(OutputFile& out, const SparseTensor<double>& x);
// Polyad's own format also stores labels.
void write_ptb(OutputFile& out, const SparseTensor<double>& x, std::span<const ModeLabels> labels,
               BlockCompression compression);

// --- for the readers ---

// What is known of the file, with what its header says.
FileHead with_header(FileHead head, const std::vector<Index>& dims, Index nonzeros);
// A slab with space for `count` nonzeros of a file whose header has been read into `head`.
Slab binary_slab(FileHead head, Index count);
// Throws Error{bad_input} if the file does not have exactly this size.
void check_size(const InputFile& file, __int128 expected);
void check_header(const InputFile& file, Index order, std::span<const Index> dims, Index nonzeros);
[[noreturn]] void fail_foreign(const InputFile& file);  // of the other byte order
[[noreturn]] void fail_at(const InputFile& file, Index nonzero, const std::string& why);
Index checked_index(const InputFile& file, Index nonzero, int mode, std::uint64_t index, Index dim);
double checked_value(const InputFile& file, Index nonzero, double value);

}  // namespace polyad::io
