// NumPy's .npy: magic | version, two bytes | length of the header, 2 or 4 bytes | the header, a Python
// dictionary as text | the numbers.

#include "polyad/io/arrays/npy_head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>

#include "polyad/base/error.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

constexpr std::string_view npy_magic("\x93NUMPY", 6);

[[noreturn]] void fail(const NpySource& source, const std::string& why) {
  source.fail(why);
  throw Error(Errc::internal, why);  // it has thrown
}

// The value that follows a key in the Python dictionary that is the header: a string, a tuple, a word.
std::string_view entry(const NpySource& source, std::string_view header, std::string_view key) {
  const auto at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) fail(source, fmt::format("has an .npy header without '{}'", key));
  auto value = header.substr(at + key.size() + 3);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  const char opening = value.empty() ? ' ' : value[0];
  const char* closing = opening == '\'' ? "'" : opening == '(' ? ")" : opening == '[' ? "]" : ",}\n";
  const auto end = value.find_first_of(closing, 1);
  if (end == std::string_view::npos)
    fail(source, fmt::format("has an .npy header without an end of '{}'", key));
  if (*closing != ',') return value.substr(0, end + 1);
  const auto word = value.substr(0, end);
  return word.substr(0, std::max(word.find_last_not_of(' ') + 1, std::size_t(1)));
}

std::vector<Index> parse_shape(const NpySource& source, std::string_view text) {
  std::vector<Index> shape;
  std::string numbers(text);
  std::ranges::replace_if(
      numbers, [](char c) { return c == ',' || c == '(' || c == ')'; }, ' ');
  for (const auto word : split_blanks(numbers)) {
    const auto extent = parse_index(word);
    if (!extent || *extent < 0)
      fail(source, fmt::format("has the shape {} in its .npy header", in_quotes(text)));
    shape.push_back(*extent);
  }
  return shape;
}

// The text of the header, whose length precedes it; sets `begin` to its end.
std::string read_header(const NpySource& source, Index& begin) {
  std::string magic(8, '\0');
  if (source.bytes < 12) fail(source, "is too short for an .npy array");
  source.next(magic);
  const int version = magic[6];
  if (!magic.starts_with(npy_magic) || version < 1 || version > 3)
    fail(source, "is no .npy array of version 1, 2 or 3");
  std::string length(version == 1 ? 2 : 4, '\0');
  source.next(length);
  Index header_bytes = 0;
  for (std::size_t i = 0; i < length.size(); ++i) header_bytes |= Index(std::uint8_t(length[i])) << (8 * i);
  begin = std::ssize(magic) + std::ssize(length) + header_bytes;
  if (begin > source.bytes) fail(source, "ends within its .npy header");
  std::string header(std::size_t(header_bytes), '\0');
  source.next(header);
  return header;
}

// Why a dtype is not read, after the name of the array.
std::string dtype_fault(std::string_view type, NpyElements elements) {
  const auto shown = in_quotes(type.starts_with('\'') ? type.substr(1, type.size() - 2) : type);
  if (elements == NpyElements::reals) return fmt::format("has dtype {}; only f8 and f4 are read", shown);
  if (elements == NpyElements::texts) return fmt::format("has dtype {}, expected a text", shown);
  if (type.starts_with("'|O") || type.starts_with("'O"))
    return "holds Python objects (a pickle), which only Python reads; write an array of numbers";
  return fmt::format(
      "has dtype {}; expected truth values (b1), whole numbers (i and u of 1 to 8 bytes) or real ones (f2, "
      "f4, f8)",
      shown);
}

bool is_expected(char kind, Index width, NpyElements elements) {
  const bool is_power = width == 1 || width == 2 || width == 4 || width == 8;
  if (elements == NpyElements::reals) return kind == 'f' && (width == 4 || width == 8);
  if (elements == NpyElements::texts) return (kind == 'S' || kind == 'U') && width < (1 << 10);
  if (kind == 'b') return width == 1;
  return kind == 'f' ? is_power && width > 1 : is_power && (kind == 'i' || kind == 'u');
}

// 'descr' of an array without fields: a sign of the byte order, a letter and a number, in quotes.
void parse_type(const NpySource& source, std::string_view type, NpyElements elements, NpyHead& head) {
  constexpr std::size_t shortest = 5;
  const bool is_simple = type.size() >= shortest && type.front() == '\'' &&
                         std::string_view("<>|").find(type[1]) != std::string_view::npos;
  const auto width = is_simple ? parse_index(type.substr(3, type.size() - 4)) : std::nullopt;
  if (!width || *width < 0 || !is_expected(type[2], *width, elements) ||
      (type[1] == '|' && *width > 1 && type[2] != 'S'))
    fail(source, dtype_fault(type, elements));
  head.kind = type[2];
  head.width = *width;
  head.swapped = type[1] != '|' && (type[1] == '<') != (std::endian::native == std::endian::little);
}

}  // namespace

NpyHead read_npy_head(const NpySource& source, NpyElements elements) {
  NpyHead head;
  const std::string header = read_header(source, head.begin);
  parse_type(source, entry(source, header, "descr"), elements, head);
  const auto order = entry(source, header, "fortran_order");
  if (order != "True" && order != "False")
    fail(source,
         fmt::format("has fortran_order {} in its .npy header, expected True or False", in_quotes(order)));
  head.by_columns = order == "True";
  head.shape = parse_shape(source, entry(source, header, "shape"));
  return head;
}

std::string npy_type_name(const NpyHead& head) {
  if (head.kind == 'b') return "bool";
  if (head.kind == 'S' || head.kind == 'U') return "text";
  return fmt::format("{}{}", head.kind == 'f' ? "float" : head.kind == 'u' ? "uint" : "int", 8 * head.width);
}

std::string npy_header(std::span<const Index> shape, Index width) {
  constexpr std::size_t alignment = 64;
  std::string extents;
  for (const Index extent : shape) extents += fmt::format("{}{}", extents.empty() ? "" : ", ", extent);
  std::string header = fmt::format("{{'descr': '{}f{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   std::endian::native == std::endian::little ? '<' : '>', width, extents,
                                   shape.size() == 1 ? "," : "");
  const std::size_t before = npy_magic.size() + 4;  // and a line's end behind
  header.append(alignment - 1 - (before + header.size()) % alignment, ' ');
  header += '\n';
  std::string result(npy_magic);
  result += {'\x01', '\0', char(header.size() & 0xFF), char(header.size() >> 8)};
  return result + header;
}

}  // namespace polyad::io
