#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad::io {

// The header of a NumPy array.
struct NpyHead {
  std::vector<Index> shape;
  Index width = 0;          // bytes per number
  bool swapped = false;     // whether the byte order differs from that of this machine
  bool by_columns = false;  // Fortran order
  Index begin = 0;          // position of the numbers, in bytes
};

// Source of a header: `next` returns the bytes that follow, of `bytes` in total;
// `fail` throws an error whose message continues after the name of the array.
struct NpySource {
  Index bytes = 0;
  std::function<void(std::span<char>)> next;
  std::function<void(const std::string&)> fail;
};
NpyHead read_npy_head(const NpySource& source);

// Header of an array of doubles (width 8) or floats
// (4) in C order and the byte order of this machine.
std::string npy_header(std::span<const Index> shape, Index width = 8);

}  // namespace polyad::io
