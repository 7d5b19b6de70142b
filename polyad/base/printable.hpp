#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace polyad {

// The character that begins a text that is not empty; length 0: no UTF-8.
struct Utf8Character {
  char32_t code = 0;
  std::size_t length = 0;
};
Utf8Character first_character(std::string_view text);

// Shown in place of what is not printable: U+FFFD.
inline constexpr std::string_view replacement_character = "\uFFFD";

// Text from a user's file that is safe to show: what is not UTF-8, control characters and characters that
// turn the direction of writing become U+FFFD.
std::string printable(std::string_view text);
// The same for texts of several lines and columns: line feeds and tabs stay.
std::string printable_lines(std::string_view text);
// The same for JSON, which stays the same JSON: what is not printable is escaped, as in \u009b.
std::string printable_json(std::string_view json);

}  // namespace polyad
