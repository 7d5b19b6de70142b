// In the place of columnar_arrow.cpp in a build without Apache Arrow.

#include "polyad/io/bytes/columnar_file.hpp"

namespace polyad::io {

bool reads_columnar() {
  return false;
}

bool is_columnar(const InputFile& /*file*/) {
  return false;
}

void write_as_csv(const InputFile& /*file*/, int /*descriptor*/) {}

}  // namespace polyad::io
