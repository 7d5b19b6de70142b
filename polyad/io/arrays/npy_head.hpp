#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad::io {

// What a NumPy array says of itself, before its numbers.
struct NpyHead {
  std::vector<Index> shape;
  Index width = 0;          // bytes per number
  bool swapped = false;     // not of this machine's byte order
  bool by_columns = false;  // Fortran order
  Index begin = 0;          // of the numbers, in bytes
};

// Where a head is read from: `next` gives the bytes that follow, of `bytes` altogether; `fail` throws, with
// words that go on after the name of the array.
struct NpySource {
  Index bytes = 0;
  std::function<void(std::span<char>)> next;
  std::function<void(const std::string&)> fail;
};
NpyHead read_npy_head(const NpySource& source);

// What stands before the numbers of an array of doubles (width 8) or floats (4) in C order and this machine's
// byte order.
std::string npy_header(std::span<const Index> shape, Index width = 8);

}  // namespace polyad::io
