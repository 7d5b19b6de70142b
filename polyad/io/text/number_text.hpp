#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad::io {

inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
inline bool is_digit(char c) {
  return unsigned(c - '0') < 10;
}

// Whether a line, blanks before it aside, is a comment in any of the text formats.
inline bool is_comment(std::string_view line) {
  return line.starts_with('#') || line.starts_with('%') || line.starts_with("//");
}

// A number that was parsed and the position after it; null if there is none.
struct IndexRead {
  Index value;
  const char* end;
};
struct RealRead {
  double value;
  const char* end;
};

// Both parse the number at p in a text whose lines end with \n, of
// which number_padding bytes after the last may be read. Common numbers
// take a few operations; the standard library handles the others.
inline constexpr std::size_t number_padding = 8;
IndexRead read_index(const char* p);
RealRead read_real(const char* p);

// The whole text as a number, or nothing. Reals may be anything that C prints, including nan and inf.
std::optional<Index> parse_index(std::string_view text);
std::optional<double> parse_real(std::string_view text);

// The shortest text that reads back as the same value.
void append_number(std::string& out, double value);
void append_number(std::string& out, Index value);

// The parts of a line between blanks, or between separators.
std::vector<std::string_view> split_blanks(std::string_view line);

// --- fast paths, inline because they run for every number of every file ---

namespace detail {

IndexRead read_long_index(const char* p);
RealRead read_any_real(const char* p);

inline constexpr double powers_of_ten[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                           1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

}  // namespace detail

// Some digits, their number, and the byte after them.
struct Digits {
  std::uint64_t value;
  int count;
  char next;
};

// Up to seven digits at p, without a branch on their number; count 8: there are more.
// Parsing of the next number can begin as soon as `count` is known, before `value` is.
inline Digits leading_digits(const char* p) {
  std::uint64_t bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  if constexpr (std::endian::native == std::endian::big) bytes = __builtin_bswap64(bytes);
  const std::uint64_t text = bytes;
  bytes ^= 0x3030303030303030;  // digits are now 0 to 9
  // Sets the high bit of the first byte beyond 9; what a carry does behind it does not matter.
  const std::uint64_t others = ((bytes + 0x7676767676767676) | bytes) & 0x8080808080808080;
  const int count = std::countr_zero(others) / 8;
  if (count == 0 || count == 8) return {0, count, '\0'};
  const char next = char(text >> (8 * count));
  bytes <<= 64 - 8 * count;  // zeros lead now
  bytes = (bytes * 10 + (bytes >> 8)) & 0x00FF00FF00FF00FF;
  bytes = (bytes * 100 + (bytes >> 16)) & 0x0000FFFF0000FFFF;
  return {(bytes * 10000 + (bytes >> 32)) & 0xFFFFFFFF, count, next};
}

inline IndexRead read_index(const char* p) {
  const auto [value, count, next] = leading_digits(p);
  if (count == 0 || count == 8 || next == '.' || next == 'e' || next == 'E')
    return detail::read_long_index(p);
  return {Index(value), p + count};
}

// A decimal of at most 15 digits and no exponent is a whole number below 2^53 over an exact power of
// ten, so one correctly rounded division gives the nearest double.
inline RealRead read_real(const char* p) {
  const char* q = p + (*p == '-');
  const auto whole = leading_digits(q);
  if (whole.count == 8) return detail::read_any_real(p);
  q += whole.count;
  double magnitude = double(whole.value);
  int digits = whole.count;
  if (*q == '.') {
    const auto fraction = leading_digits(q + 1);
    if (fraction.count == 8) return detail::read_any_real(p);
    q += 1 + fraction.count;
    digits += fraction.count;
    const double scale = detail::powers_of_ten[fraction.count];
    if (fraction.value != 0) magnitude = (magnitude * scale + double(fraction.value)) / scale;
  }
  if (digits == 0 || (!is_blank(*q) && *q != '\n')) return detail::read_any_real(p);
  return {*p == '-' ? -magnitude : magnitude, q};
}

// "1 number", "4 numbers".
std::string counted(Index count, std::string_view noun);

}  // namespace polyad::io
