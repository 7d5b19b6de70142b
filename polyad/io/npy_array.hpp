#pragma once

#include <span>
#include <string>

#include "polyad/base/matrix.hpp"
#include "polyad/io/zip_archive.hpp"

namespace polyad::io {

// Reads a member that is a NumPy array of f8 or f4, in either byte order, C or Fortran order, of one
// dimension (then a single column) or two. `name` is what messages call it. Throws Error{bad_input}.
Matrix<double> read_npy(const InputFile& file, const ZipMember& member, const std::string& name,
                        int num_dimensions);

// What stands before the numbers of an array of doubles in C order and this machine's byte order.
std::string npy_header(std::span<const Index> shape);

}  // namespace polyad::io
