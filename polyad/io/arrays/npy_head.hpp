#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad::io {

inline constexpr Index npy_chunk_numbers = Index(1) << 15;  // converted at a time

// The header of a NumPy array.
struct NpyHead {
  std::vector<Index> shape;
  char kind = 'f';          // of its elements, as NumPy calls it: f, i, u, b, and S or U for texts
  Index width = 0;          // bytes per element; characters of a text
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
// Which elements are expected: reals are f8 and f4, numbers also f2, whole numbers (i, u) of
// 1 to 8 bytes and truth values (b1), texts are S and U.
enum class NpyElements { reals, numbers, texts };
NpyHead read_npy_head(const NpySource& source, NpyElements elements = NpyElements::reals);

// The name of a type of numbers in NumPy, such as float64.
std::string npy_type_name(const NpyHead& head);

// Header of an array of doubles (width 8) or floats
// (4) in C order and the byte order of this machine.
std::string npy_header(std::span<const Index> shape, Index width = 8);

}  // namespace polyad::io
