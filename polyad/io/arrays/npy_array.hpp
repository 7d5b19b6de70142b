#pragma once

#include <string>

#include "polyad/base/matrix.hpp"
#include "polyad/io/bytes/zip_archive.hpp"

namespace polyad::io {

// Reads a member that is a NumPy array of f8 or f4, in any byte order, in C or
// Fortran order, of one dimension (a single column) or two. `name` is its name in
// messages. Throws Error{bad_input}, also if a number exceeds the range of Real.
template <class Real = double>
Matrix<Real> read_npy(const InputFile& file, const ZipMember& member, const std::string& name,
                      int num_dimensions);

// Number of bytes per number of such a member: 8 or 4.
Index npy_width(const InputFile& file, const ZipMember& member, const std::string& name);

// Reads a member with a single number: without dimensions, or with one of length 1.
double read_npy_number(const InputFile& file, const ZipMember& member, const std::string& name);

}  // namespace polyad::io
