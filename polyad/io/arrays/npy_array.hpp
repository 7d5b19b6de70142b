#pragma once

#include <string>

#include "polyad/base/matrix.hpp"
#include "polyad/io/bytes/zip_archive.hpp"

namespace polyad::io {

// Reads a member that is a NumPy array of f8 or f4, in either byte order, C or Fortran order, of one
// dimension (then a single column) or two. `name` is what messages call it. Throws Error{bad_input}, also
// when a number is beyond Real.
template <class Real = double>
Matrix<Real> read_npy(const InputFile& file, const ZipMember& member, const std::string& name,
                      int num_dimensions);

// How many bytes each number of such a member has: 8 or 4.
Index npy_width(const InputFile& file, const ZipMember& member, const std::string& name);

// Reads a member that holds one number: without dimensions, or with one of length 1.
double read_npy_number(const InputFile& file, const ZipMember& member, const std::string& name);

}  // namespace polyad::io
