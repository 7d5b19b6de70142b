#pragma once

#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// Recognises the format of a file from its first bytes and lines, and reads its header. The options
// may prescribe the format. Throws Error{bad_input} with the line if Polyad does not read such files.
FileHead recognise(const InputFile& file, const ReadOptions& options);

// A word of the user's file for a message: unprintable bytes are replaced, long words are shortened.
std::string in_quotes(std::string_view word);

}  // namespace polyad::io
