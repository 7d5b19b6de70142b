#pragma once

#include <string>

#include "polyad/base/matrix.hpp"
#include "polyad/io/zip_archive.hpp"

namespace polyad::io {

// Reads a member that is a NumPy array of f8 or f4, in either byte order, C or Fortran order, of one
// dimension (then a single column) or two. `name` is what messages call it. Throws Error{bad_input}.
Matrix<double> read_npy(const InputFile& file, const ZipMember& member, const std::string& name,
                        int num_dimensions);

}  // namespace polyad::io
