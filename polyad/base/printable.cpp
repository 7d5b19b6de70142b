#include "polyad/base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace polyad {
namespace {

struct Range {
  char32_t first, last;
};

bool is_printable(char32_t code) {
  constexpr std::array<Range, 7> others{{{0, 0x1F},
                                         {0x7F, 0x9F},
                                         {0x2028, 0x202E},
                                         {0x2066, 0x2069},
                                         {0xFDD0, 0xFDEF},
                                         {0xFEFF, 0xFEFF},
                                         {0xE0000, 0x10FFFF}}};
  return (code & 0xFFFE) != 0xFFFE &&
         std::ranges::none_of(others, [&](Range range) { return code >= range.first && code <= range.last; });
}

bool is_plain(char c) {
  return c >= ' ' && c <= '~';
}

// Appends what replace(code) returns for every character that is not printable; code 0: no UTF-8.
template <class Fn>
std::string replaced(std::string_view text, Fn replace) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const auto plain = std::ranges::find_if_not(text, is_plain) - text.begin();
    result += text.substr(0, std::size_t(plain));
    text.remove_prefix(std::size_t(plain));
    if (text.empty()) break;
    const auto [code, length] = first_character(text);
    if (length > 0 && is_printable(code))
      result += text.substr(0, length);
    else
      result += replace(length > 0 ? code : 0);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

std::string escaped(char32_t code) {
  constexpr char32_t first_pair = 0x10000;
  if (code < first_pair) return fmt::format("\\u{:04x}", std::uint32_t(code));
  const auto rest = std::uint32_t(code - first_pair);
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
}

}  // namespace

Utf8Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  char32_t code = lead & (0xFF >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return {};
    code = code << 6 | (byte & 0x3F);
  }
  constexpr std::array<char32_t, 5> minimum{0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < minimum[length] || code > 0x10FFFF || is_surrogate) return {};
  return {code, length};
}

std::string printable(std::string_view text) {
  return replaced(text, [](char32_t) { return replacement_character; });
}

std::string printable_lines(std::string_view text) {
  return replaced(text, [](char32_t code) {
    return code == U'\n'   ? std::string_view("\n")
           : code == U'\t' ? std::string_view("\t")
                           : replacement_character;
  });
}

std::string printable_json(std::string_view json) {
  return replaced(json, [](char32_t code) {
    return code == U'\n' ? std::string("\n") : code == 0 ? std::string(replacement_character) : escaped(code);
  });
}

std::string with_commas(Index number) {
  std::string text = std::to_string(number);
  for (auto at = Index(text.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3)
    text.insert(std::size_t(at), ",");
  return text;
}

}  // namespace polyad
