#pragma once

#include <filesystem>

#include "polyad/io/bytes/input_file.hpp"
#include "polyad/io/models/kruskal_formats.hpp"

namespace polyad::io {

// A Kruskal tensor as NumPy's archive of arrays: weights, factor_0, factor_1, ... as numpy.savez and
// savez_compressed write them, of f8 or f4 in either byte order, C or Fortran order. Without weights they
// are all one. Other arrays are passed over.
Kruskal<double> read_npz(const InputFile& file);
// As numpy.savez would write it, but with bytes that depend on the contents alone.
void write_npz(const std::filesystem::path& path, const WritableKruskal& k, Existing existing);

}  // namespace polyad::io
