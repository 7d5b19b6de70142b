#include "polyad/report/printable_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace polyad::report {
namespace {

struct Range {
  char32_t first, last;
};

template <std::size_t N>
bool is_in(char32_t code, const std::array<Range, N>& ranges) {
  return std::ranges::any_of(ranges, [&](Range range) { return code >= range.first && code <= range.last; });
}

int cells_of(char32_t code) {
  constexpr std::array<Range, 5> marks{
      {{0x300, 0x36F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}}};
  constexpr std::array<Range, 7> wide{{{0x1100, 0x115F},
                                       {0x2E80, 0xA4CF},
                                       {0xAC00, 0xD7A3},
                                       {0xF900, 0xFAFF},
                                       {0xFE30, 0xFE6F},
                                       {0xFF00, 0xFF60},
                                       {0x1F300, 0x3FFFD}}};
  return is_in(code, marks) ? 0 : is_in(code, wide) ? 2 : 1;
}

// fn(bytes, code) for every character; what is no UTF-8 comes byte by byte, as U+FFFD.
template <class Fn>
void for_each_character(std::string_view text, Fn fn) {
  while (!text.empty()) {
    const auto [code, length] = first_character(text);
    if (length == 0)
      fn(replacement_character, U'\uFFFD');
    else
      fn(text.substr(0, length), code);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
}

}  // namespace

int num_cells(std::string_view text) {
  int cells = 0;
  for_each_character(text, [&](std::string_view, char32_t code) { cells += cells_of(code); });
  return cells;
}

std::string clip(std::string_view text, int cells) {
  if (num_cells(text) <= cells) return std::string(text);
  if (cells <= 0) return "";
  std::string result;
  int left = cells - 1;  // for the ellipsis
  for_each_character(text, [&](std::string_view bytes, char32_t code) {
    const int needed = cells_of(code);
    if (needed > left) left = -1;
    if (left < 0) return;
    left -= needed;
    result += bytes;
  });
  return result + "…";
}

std::string clip_front(std::string_view text, int cells) {
  int excess = num_cells(text) - cells;
  if (excess <= 0) return std::string(text);
  if (cells <= 0) return "";
  ++excess;  // for the ellipsis
  std::string result = "…";
  for_each_character(text, [&](std::string_view bytes, char32_t code) {
    if (excess <= 0 && (cells_of(code) > 0 || result.size() > 3)) result += bytes;
    excess -= cells_of(code);
  });
  return result;
}

std::string escape_html(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  return result;
}

NumberColumn::NumberColumn(double largest_magnitude) {
  if (largest_magnitude == 0)
    decimals_ = 0;
  else if (largest_magnitude < 1e-5 || largest_magnitude >= 1e7)
    decimals_ = -1;
  else
    decimals_ = std::max(0, 2 - int(std::floor(std::log10(largest_magnitude) - 1e-9)));
}

std::string NumberColumn::text(double value) const {
  return decimals_ < 0 ? fmt::format("{:.2e}", value) : fmt::format("{:.{}f}", value, decimals_);
}

}  // namespace polyad::report
