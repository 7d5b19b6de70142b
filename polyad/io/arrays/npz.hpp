#pragma once

#include <filesystem>

#include "polyad/io/bytes/input_file.hpp"
#include "polyad/io/models/kruskal_formats.hpp"

namespace polyad::io {

// A Kruskal tensor as an archive of NumPy arrays: weights, factor_0, factor_1, ...
// as written by numpy.savez and savez_compressed, of f8 or f4, in any byte order,
// in C or Fortran order. Without weights, all are 1. Other arrays are ignored.
Kruskal<double> read_npz(const InputFile& file);
// As written by numpy.savez, but with bytes that depend on the contents only.
void write_npz(const std::filesystem::path& path, const WritableKruskal& k, Existing existing);

}  // namespace polyad::io
