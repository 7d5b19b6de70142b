#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "polyad/base/types.hpp"

namespace polyad {

// The first character of a text that is not empty; length 0: not UTF-8.
struct Utf8Character {
  char32_t code = 0;
  std::size_t length = 0;
};
Utf8Character first_character(std::string_view text);

// Replacement for what is not printable: U+FFFD.
inline constexpr std::string_view replacement_character = "\uFFFD";

// Text from a user's file that is safe to print: invalid UTF-8, control characters
// and characters that change the direction of writing are replaced by U+FFFD.
std::string printable(std::string_view text);
// The same for texts with lines and columns: line feeds and tabs are kept.
std::string printable_lines(std::string_view text);
// The same for JSON, without changing its meaning: what is not printable is escaped, as in \u009b.
std::string printable_json(std::string_view json);

// A number with its digits in groups: 416744 as "416,744".
std::string with_commas(Index number);

}  // namespace polyad
