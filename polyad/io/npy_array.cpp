// NumPy's .npy: magic | version, two bytes | length of the header, 2 or 4 bytes | the header, a Python
// dictionary as text | the numbers.

#include "polyad/io/npy_array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "polyad/base/error.hpp"
#include "polyad/io/kruskal_text.hpp"
#include "polyad/io/number_text.hpp"
#include "polyad/io/recognise.hpp"

namespace polyad::io {
namespace {

constexpr std::string_view npy_magic("\x93NUMPY", 6);
constexpr Index chunk_numbers = Index(1) << 15;

// What an array of an archive says of itself, before its numbers.
struct NpyHead {
  std::vector<Index> shape;
  Index width = 0;          // bytes per number
  bool swapped = false;     // not of this machine's byte order
  bool by_columns = false;  // Fortran order

  Index rows() const { return shape[0]; }
  Index cols() const { return shape.size() > 1 ? shape[1] : 1; }
};

// One array being read, with the name that messages call it.
class NpyArray {
 public:
  NpyArray(const InputFile& file, const ZipMember& member, std::string name)
      : file_(file), name_(std::move(name)), bytes_(file, member) {}

  Matrix<double> read(int num_dimensions) {
    const NpyHead head = read_head();
    check_shape(head, num_dimensions);
    Matrix<double> values(head.rows(), head.cols());
    if (head.width == 4)
      read_values<float, std::uint32_t>(head, values);
    else
      read_values<double, std::uint64_t>(head, values);
    bytes_.finish();
    check_finite(values);
    return values;
  }

 private:
  std::string read_header();
  NpyHead read_head();
  std::string_view entry(std::string_view header, std::string_view key) const;
  std::vector<Index> parse_shape(std::string_view text) const;
  void check_shape(const NpyHead& head, int num_dimensions) const;
  void check_finite(const Matrix<double>& values) const;
  template <class Real, class Bits>
  void read_values(const NpyHead& head, Matrix<double>& values);
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(Errc::bad_input, name_ + " " + why, {file_.path().string(), 0});
  }

  const InputFile& file_;
  std::string name_;
  ZipMemberReader bytes_;
};

// The value that follows a key in the Python dictionary that is the header: a string, a tuple, a word.
std::string_view NpyArray::entry(std::string_view header, std::string_view key) const {
  const auto at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) fail(fmt::format("has an .npy header without '{}'", key));
  auto value = header.substr(at + key.size() + 3);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  const char opening = value.empty() ? ' ' : value[0];
  const char* closing = opening == '\'' ? "'" : opening == '(' ? ")" : opening == '[' ? "]" : ",}\n";
  const auto end = value.find_first_of(closing, 1);
  if (end == std::string_view::npos) fail(fmt::format("has an .npy header without an end of '{}'", key));
  return value.substr(0, *closing == ',' ? end : end + 1);
}

std::vector<Index> NpyArray::parse_shape(std::string_view text) const {
  std::vector<Index> shape;
  std::string numbers(text);
  std::ranges::replace_if(
      numbers, [](char c) { return c == ',' || c == '(' || c == ')'; }, ' ');
  for (const auto word : split_blanks(numbers)) {
    const auto extent = parse_index(word);
    if (!extent || *extent < 0) fail(fmt::format("has the shape {} in its .npy header", in_quotes(text)));
    shape.push_back(*extent);
  }
  return shape;
}

// The text of the header, whose length stands before it.
std::string NpyArray::read_header() {
  std::string begin(8, '\0');
  if (bytes_.bytes_left() < 12) fail("is too short for an .npy array");
  bytes_.read(begin);
  const int version = begin[6];
  if (!begin.starts_with(npy_magic) || version < 1 || version > 3)
    fail("is no .npy array of version 1, 2 or 3");
  std::string length(version == 1 ? 2 : 4, '\0');
  bytes_.read(length);
  Index header_bytes = 0;
  for (std::size_t i = 0; i < length.size(); ++i) header_bytes |= Index(std::uint8_t(length[i])) << (8 * i);
  if (header_bytes > bytes_.bytes_left()) fail("ends within its .npy header");
  std::string header(std::size_t(header_bytes), '\0');
  bytes_.read(header);
  return header;
}

NpyHead NpyArray::read_head() {
  const std::string header = read_header();
  const auto type = entry(header, "descr");
  if (type != "'<f8'" && type != "'>f8'" && type != "'<f4'" && type != "'>f4'")
    fail(fmt::format("has dtype {}; only f8 and f4 are read", in_quotes(type.substr(1, type.size() - 2))));
  NpyHead head;
  head.swapped = (type[1] == '<') != (std::endian::native == std::endian::little);
  head.width = type[3] - '0';
  head.by_columns = entry(header, "fortran_order") == "True";
  head.shape = parse_shape(entry(header, "shape"));
  return head;
}

void NpyArray::check_shape(const NpyHead& head, int num_dimensions) const {
  if (int(head.shape.size()) != num_dimensions)
    fail(fmt::format("has {}, expected {}", counted(Index(head.shape.size()), "dimension"), num_dimensions));
  if (head.rows() == 0 || head.cols() == 0) fail("is empty");
  const auto expected = static_cast<__int128>(head.rows()) * head.cols() * head.width;
  if (expected != bytes_.bytes_left())
    fail(fmt::format("is {} by {} of {} bytes each, but has {} bytes", head.rows(), head.cols(), head.width,
                     bytes_.bytes_left()));
}

void NpyArray::check_finite(const Matrix<double>& values) const {
  const auto flat = values.flat();
  const auto bad = std::ranges::find_if_not(flat, [](double value) { return std::isfinite(value); });
  if (bad == flat.end()) return;
  const Index place = bad - flat.begin();
  fail(fmt::format("has the value '{}' at [{}, {}], which is not finite", *bad, place / values.num_cols(),
                   place % values.num_cols()));
}

template <class Real, class Bits>
void NpyArray::read_values(const NpyHead& head, Matrix<double>& values) {
  const Index count = head.rows() * head.cols();
  std::vector<Bits> chunk;
  for (Index from = 0; from < count; from += chunk_numbers) {
    chunk.resize(std::size_t(std::min(chunk_numbers, count - from)));
    bytes_.read({reinterpret_cast<char*>(chunk.data()), chunk.size() * sizeof(Bits)});
    for (Index i = 0; i < Index(chunk.size()); ++i) {
      Bits bits = chunk[i];
      if (head.swapped) bits = sizeof(Bits) == 4 ? __builtin_bswap32(bits) : __builtin_bswap64(bits);
      const Index place = from + i;
      // Fortran counts down the columns, our matrices along the rows.
      values.flat()[head.by_columns ? place % head.rows() * head.cols() + place / head.rows() : place] =
          std::bit_cast<Real>(bits);
    }
  }
}

}  // namespace

Matrix<double> read_npy(const InputFile& file, const ZipMember& member, const std::string& name,
                        int num_dimensions) {
  return NpyArray(file, member, name).read(num_dimensions);
}

std::string npy_header(std::span<const Index> shape) {
  constexpr std::size_t alignment = 64;
  std::string extents;
  for (const Index extent : shape) extents += fmt::format("{}{}", extents.empty() ? "" : ", ", extent);
  std::string header = fmt::format("{{'descr': '{}f8', 'fortran_order': False, 'shape': ({}{}), }}",
                                   std::endian::native == std::endian::little ? '<' : '>', extents,
                                   shape.size() == 1 ? "," : "");
  const std::size_t before = npy_magic.size() + 4;  // and a line's end behind
  header.append(alignment - 1 - (before + header.size()) % alignment, ' ');
  header += '\n';
  std::string result(npy_magic);
  result += {'\x01', '\0', char(header.size() & 0xFF), char(header.size() >> 8)};
  return result + header;
}

}  // namespace polyad::io
