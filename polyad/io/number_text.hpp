#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
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

// Both of the following read a number at `p` in a text that ends with \n, advance p behind it and return
// true; false, and p anywhere, when there is none. They decide in a few comparisons what most numbers
// are and leave the rest to the standard library.
bool read_index(const char*& p, Index& index);
bool read_real(const char*& p, double& value);

// The whole text as a number, or nothing. Reals may be anything that C prints, also nan and inf.
std::optional<Index> parse_index(std::string_view text);
std::optional<double> parse_real(std::string_view text);

// The shortest text that reads back as the same value.
void append_number(std::string& out, double value);
void append_number(std::string& out, Index value);

// The parts of a line between blanks, or between separators.
std::vector<std::string_view> split_blanks(std::string_view line);

// --- the short ways, inline because they run for every number of every file ---

namespace detail {
bool read_long_index(const char*& p, Index& index);
bool read_any_real(const char*& p, double& value);
inline constexpr double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                           1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                           1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
}  // namespace detail

inline bool read_index(const char*& p, Index& index) {
  const char* const begin = p;
  const char* q = p;
  Index value = 0;
  for (unsigned digit; (digit = unsigned(*q - '0')) < 10; ++q) {
    if (q - begin == 18) return detail::read_long_index(p, index);
    value = value * 10 + digit;
  }
  if (q == begin || *q == '.' || *q == 'e' || *q == 'E') return detail::read_long_index(p, index);
  p = q;
  index = value;
  return true;
}

// A decimal of at most 15 digits and no exponent is a whole number below 2^53 over an exact power of
// ten, so one correctly rounded division gives the nearest double.
inline bool read_real(const char*& p, double& value) {
  const char* q = p;
  const bool negative = *q == '-';
  q += negative;
  std::uint64_t digits = 0;
  const char* const whole = q;
  for (unsigned digit; (digit = unsigned(*q - '0')) < 10; ++q) digits = digits * 10 + digit;
  std::ptrdiff_t length = q - whole, decimals = 0;
  if (*q == '.') {
    const char* const fraction = ++q;
    for (unsigned digit; (digit = unsigned(*q - '0')) < 10; ++q) digits = digits * 10 + digit;
    decimals = q - fraction;
    length += decimals;
  }
  if (length == 0 || length > 15 || (!is_blank(*q) && *q != '\n')) return detail::read_any_real(p, value);
  const double magnitude = double(digits) / detail::powers_of_ten[decimals];
  value = negative ? -magnitude : magnitude;
  p = q;
  return true;
}

}  // namespace polyad::io
