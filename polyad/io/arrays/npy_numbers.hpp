#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "polyad/io/arrays/npy_head.hpp"

namespace polyad::io {

// Elements of NumPy arrays that are no numbers of C++: float16, and a truth value of one byte.
struct NpyHalf {
  std::uint16_t bits = 0;
};
struct NpyTruth {
  std::uint8_t byte = 0;
};

// Calls fn with a value of the type of the elements of an array of numbers.
template <class Fn>
void with_npy_type(const NpyHead& head, Fn fn) {
  const auto with_width = [&](auto one, auto two, auto four, auto eight) {
    if (head.width == 1) fn(one);
    if (head.width == 2) fn(two);
    if (head.width == 4) fn(four);
    if (head.width == 8) fn(eight);
  };
  if (head.kind == 'b') return fn(NpyTruth());
  if (head.kind == 'f') return with_width(NpyTruth(), NpyHalf(), float(), double());
  if (head.kind == 'u') return with_width(std::uint8_t(), std::uint16_t(), std::uint32_t(), std::uint64_t());
  with_width(std::int8_t(), std::int16_t(), std::int32_t(), std::int64_t());
}

// The element whose bytes begin at p, of this machine's byte order or the other.
template <class Stored>
Stored npy_element(const char* p, bool swapped) {
  std::array<char, sizeof(Stored)> bytes;
  std::memcpy(bytes.data(), p, sizeof(Stored));
  if (swapped) std::ranges::reverse(bytes);
  return std::bit_cast<Stored>(bytes);
}

inline double npy_real(NpyTruth truth) {
  return truth.byte != 0 ? 1 : 0;
}
inline double npy_real(NpyHalf half) {
  constexpr int fraction_bits = 10, exponent_mask = 0x1F, bias = 15;
  const int exponent = half.bits >> fraction_bits & exponent_mask, fraction = half.bits & 0x3FF;
  double magnitude = std::ldexp(fraction, 1 - bias - fraction_bits);  // subnormal
  if (exponent == exponent_mask)
    magnitude = fraction == 0 ? HUGE_VAL : std::nan("");
  else if (exponent > 0)
    magnitude = std::ldexp(fraction + 0x400, exponent - bias - fraction_bits);
  return (half.bits & 0x8000) != 0 ? -magnitude : magnitude;
}
template <class Stored>
  requires std::is_arithmetic_v<Stored>
double npy_real(Stored number) {
  return double(number);
}

// An element as an index; what is none, or beyond 2^63 - 1, becomes an index that no array has.
template <class Stored>
Index npy_index(Stored number) {
  constexpr Index none = std::numeric_limits<Index>::max();
  if constexpr (std::is_integral_v<Stored>)
    return std::in_range<Index>(number) ? Index(number) : none;
  else
    return none;
}

}  // namespace polyad::io
