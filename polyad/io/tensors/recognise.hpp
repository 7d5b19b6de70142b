#pragma once

#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// Finds out what a file holds from its first bytes and lines, and reads its header. The options may
// decide the format. Throws Error{bad_input} with the line when it is nothing that Polyad reads.
FileHead recognise(const InputFile& file, const ReadOptions& options);

// A word of the user's file, fit for a message: unprintable bytes and overlength are cut.
std::string in_quotes(std::string_view word);

}  // namespace polyad::io
