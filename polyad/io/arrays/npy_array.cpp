#include "polyad/io/arrays/npy_array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "polyad/base/error.hpp"
#include "polyad/io/arrays/npy_head.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

// One array being read, with the name that messages call it.
class NpyArray {
 public:
  NpyArray(const InputFile& file, const ZipMember& member, std::string name)
      : file_(file), name_(std::move(name)), bytes_(file, member) {}

  template <class Real>
  Matrix<Real> read(int num_dimensions) {
    const NpyHead head = read_head();
    if (int(head.shape.size()) != num_dimensions)
      fail(
          fmt::format("has {}, expected {}", counted(Index(head.shape.size()), "dimension"), num_dimensions));
    return read_matrix<Real>(head);
  }

  Index width() { return read_head().width; }

  double read_number() {
    NpyHead head = read_head();
    if (head.shape.empty()) head.shape = {1};
    if (head.shape != std::vector<Index>{1}) fail("is no single number");
    return read_matrix<double>(head)(0, 0);
  }

 private:
  NpyHead read_head() {
    return read_npy_head({bytes_.bytes_left(), [&](std::span<char> into) { bytes_.read(into); },
                          [&](const std::string& why) { fail(why); }});
  }
  template <class Real>
  Matrix<Real> read_matrix(const NpyHead& head) {
    check_shape(head);
    Matrix<Real> values(num_rows(head), num_cols(head));
    if (head.width == 4)
      read_values<float, std::uint32_t>(head, values);
    else
      read_values<double, std::uint64_t>(head, values);
    bytes_.finish();
    check_finite(values);
    return values;
  }
  static Index num_rows(const NpyHead& head) { return head.shape[0]; }
  static Index num_cols(const NpyHead& head) { return head.shape.size() > 1 ? head.shape[1] : 1; }
  void check_shape(const NpyHead& head) const;
  template <class Real>
  void check_finite(const Matrix<Real>& values) const;
  template <class Stored, class Bits, class Real>
  void read_values(const NpyHead& head, Matrix<Real>& values);
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(Errc::bad_input, name_ + " " + why, {file_.path().string(), 0});
  }

  const InputFile& file_;
  std::string name_;
  ZipMemberReader bytes_;
};

void NpyArray::check_shape(const NpyHead& head) const {
  if (num_rows(head) == 0 || num_cols(head) == 0) fail("is empty");
  const auto expected = static_cast<__int128>(num_rows(head)) * num_cols(head) * head.width;
  if (expected != bytes_.bytes_left())
    fail(fmt::format("is {} by {} of {} bytes each, but has {} bytes", num_rows(head), num_cols(head),
                     head.width, bytes_.bytes_left()));
}

template <class Real>
void NpyArray::check_finite(const Matrix<Real>& values) const {
  const auto flat = values.flat();
  const auto bad = std::ranges::find_if_not(flat, [](Real value) { return std::isfinite(value); });
  if (bad == flat.end()) return;
  const Index place = bad - flat.begin();
  fail(fmt::format("has the value '{}' at [{}, {}], which is not finite", *bad, place / values.num_cols(),
                   place % values.num_cols()));
}

template <class Stored, class Bits, class Real>
void NpyArray::read_values(const NpyHead& head, Matrix<Real>& values) {
  const Index count = num_rows(head) * num_cols(head);
  std::vector<Bits> chunk;
  for (Index from = 0; from < count; from += npy_chunk_numbers) {
    chunk.resize(std::size_t(std::min(npy_chunk_numbers, count - from)));
    bytes_.read({reinterpret_cast<char*>(chunk.data()), chunk.size() * sizeof(Bits)});
    for (Index i = 0; i < Index(chunk.size()); ++i) {
      Bits bits = chunk[i];
      if (head.swapped) bits = sizeof(Bits) == 4 ? __builtin_bswap32(bits) : __builtin_bswap64(bits);
      const Index place = from + i;
      // Fortran counts down the columns, our matrices along the rows.
      values.flat()[head.by_columns ? place % num_rows(head) * num_cols(head) + place / num_rows(head)
                                    : place] = Real(std::bit_cast<Stored>(bits));
    }
  }
}

}  // namespace

template <class Real>
Matrix<Real> read_npy(const InputFile& file, const ZipMember& member, const std::string& name,
                      int num_dimensions) {
  return NpyArray(file, member, name).read<Real>(num_dimensions);
}
template Matrix<float> read_npy(const InputFile&, const ZipMember&, const std::string&, int);
template Matrix<double> read_npy(const InputFile&, const ZipMember&, const std::string&, int);

Index npy_width(const InputFile& file, const ZipMember& member, const std::string& name) {
  return NpyArray(file, member, name).width();
}

double read_npy_number(const InputFile& file, const ZipMember& member, const std::string& name) {
  return NpyArray(file, member, name).read_number();
}

}  // namespace polyad::io
