#include "polyad/io/arrays/npy_member.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "polyad/base/error.hpp"
#include "polyad/io/arrays/npy_numbers.hpp"

namespace polyad::io {

NpyMember::NpyMember(const InputFile& file, const ZipMember& member, std::string name, NpyElements elements)
    : file_(file), name_(std::move(name)), bytes_(file, member) {
  head_ = read_npy_head({bytes_.bytes_left(), [&](std::span<char> into) { bytes_.read(into); },
                         [&](const std::string& why) { fail(why); }},
                        elements);
  const Index width = head_.kind == 'U' ? head_.width * 4 : head_.width;
  Index size = 1, bytes = width;
  for (const Index extent : head_.shape)
    if (__builtin_mul_overflow(size, extent, &size) || __builtin_mul_overflow(size, width, &bytes))
      fail(fmt::format("has the shape ({}), which is too large", fmt::join(head_.shape, ", ")));
  bytes = size * width;
  if (bytes != bytes_.bytes_left())
    fail(fmt::format("has {} bytes of numbers, expected {} for the shape ({})", bytes_.bytes_left(), bytes,
                     fmt::join(head_.shape, ", ")));
  size_ = size;
}

void NpyMember::fail(const std::string& why) const {
  throw Error(Errc::bad_input, name_ + " " + why, {file_.path().string(), 0});
}

template <class Number, class Convert>
void NpyMember::for_each(const ChunkFn<Number>& fn, Convert convert) {
  std::vector<char> bytes;
  std::vector<Number> numbers;
  with_npy_type(head_, [&]<class Stored>(Stored) {
    for (Index from = 0; from < size_; from += npy_chunk_numbers) {
      const auto count = std::size_t(std::min(npy_chunk_numbers, size_ - from));
      bytes.resize(count * sizeof(Stored));
      numbers.resize(count);
      bytes_.read(bytes);
      for (std::size_t i = 0; i < count; ++i)
        numbers[i] = convert(npy_element<Stored>(bytes.data() + i * sizeof(Stored), head_.swapped));
      fn(from, numbers);
    }
  });
  bytes_.finish();
}

void NpyMember::for_each_real(const ChunkFn<double>& fn) {
  for_each<double>(fn, [](auto number) { return npy_real(number); });
}

void NpyMember::for_each_index(const ChunkFn<Index>& fn) {
  if (head_.kind != 'i' && head_.kind != 'u')
    fail(fmt::format("has dtype {}{}, expected whole numbers", head_.kind, head_.width));
  for_each<Index>(fn, [](auto number) { return npy_index(number); });
}

std::vector<Index> NpyMember::indices() {
  std::vector<Index> all;
  for_each_index(
      [&](Index, std::span<const Index> numbers) { all.insert(all.end(), numbers.begin(), numbers.end()); });
  return all;
}

std::string NpyMember::text() {
  if (size_ != 1) fail("is no single text");
  std::string bytes(std::size_t(bytes_.bytes_left()), '\0');
  bytes_.read(bytes);
  bytes_.finish();
  std::erase(bytes, '\0');  // the padding, and those of UTF-32: names are plain letters
  return bytes;
}

}  // namespace polyad::io
