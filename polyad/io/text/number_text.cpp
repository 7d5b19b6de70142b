#include "polyad/io/text/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace polyad::io {
namespace {

// The end of the word at p: a blank or the line's end.
const char* word_end(const char* p) {
  while (!is_blank(*p) && *p != '\n') ++p;
  return p;
}

}  // namespace

namespace detail {

IndexRead read_long_index(const char* p) {
  const char* const end = word_end(p);
  const auto parsed = parse_index({p, std::size_t(end - p)});
  if (!parsed || *parsed < 0) return {0, nullptr};
  return {*parsed, end};
}

RealRead read_any_real(const char* p) {
  const char* const end = word_end(p);
  const auto parsed = parse_real({p, std::size_t(end - p)});
  if (!parsed) return {0, nullptr};
  return {*parsed, end};
}

}  // namespace detail

std::optional<Index> parse_index(std::string_view text) {
  Index value = 0;
  const char* const end = text.data() + text.size();
  if (text.empty()) return std::nullopt;
  const auto [rest, status] = std::from_chars(text.data(), end, value);
  if (status == std::errc() && rest == end) return value;
  // Some writers print indices as reals: 12.0, 1.2e1.
  if (text.find_first_of(".eE") == std::string_view::npos) return std::nullopt;
  const auto real = parse_real(text);
  if (!real || std::abs(*real) > 0x1p53 || *real != std::floor(*real)) return std::nullopt;
  return Index(*real);
}

std::optional<double> parse_real(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, value);
  if (rest != end) return std::nullopt;
  if (status == std::errc()) return value;
  if (status != std::errc::result_out_of_range) return std::nullopt;
  return std::strtod(std::string(text).c_str(), nullptr);  // too large: infinity; too small: nearly 0
}

void append_number(std::string& out, double value) {
  std::array<char, 32> text{};
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
  out.append(text.data(), result.ptr);
}

void append_number(std::string& out, Index value) {
  std::array<char, 24> text{};
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
  out.append(text.data(), result.ptr);
}

std::vector<std::string_view> split_blanks(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const auto end = std::min(line.find_first_of(" \t\r"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

std::string counted(Index count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace polyad::io
