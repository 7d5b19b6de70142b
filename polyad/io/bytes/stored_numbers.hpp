#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "polyad/base/parallel.hpp"
#include "polyad/io/bytes/input_file.hpp"

namespace polyad::io {

// Header fields of a binary file, consecutive and without padding.
class FieldReader {
 public:
  FieldReader(const InputFile& file, Index position) : file_(file), position_(position) {}

  template <class T>
  T next() {
    static_assert(std::is_trivially_copyable_v<T>);
    std::array<char, sizeof(T)> bytes;
    file_.read(position_, bytes);
    position_ += Index(sizeof(T));
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  Index position() const { return position_; }

 private:
  const InputFile& file_;
  Index position_;
};

template <class T>
void append_bytes(std::string& out, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

// Calls fn with a value of the unsigned type of 1, 2, 4 or 8 bytes.
template <class Fn>
decltype(auto) with_index_type(Index width, Fn fn) {
  if (width == 1) return fn(std::uint8_t());
  if (width == 2) return fn(std::uint16_t());
  if (width == 4) return fn(std::uint32_t());
  return fn(std::uint64_t());
}

// The smallest of these widths that holds every index below `extent`.
inline Index index_width(Index extent) {
  const auto maximum = std::uint64_t(extent > 0 ? extent - 1 : 0);
  return maximum <= 0xFF ? 1 : maximum <= 0xFFFF ? 2 : maximum <= 0xFFFFFFFF ? 4 : 8;
}

// Reads `count` numbers of type Stored at `offset` with all threads; calls fn(position, number) for each.
template <class Stored, class Fn>
void read_numbers(const InputFile& file, Index offset, Index count, Fn fn) {
  constexpr Index step = Index(1 << 18) / Index(sizeof(Stored));
  parallel_parts(count, [&](Index begin, Index end, int) {
    std::vector<Stored> buffer(std::size_t(std::min(step, end - begin)));
    for (Index from = begin; from < end; from += step) {
      const auto numbers = std::span(buffer).first(std::size_t(std::min(step, end - from)));
      file.read(offset + from * Index(sizeof(Stored)),
                {reinterpret_cast<char*>(numbers.data()), numbers.size_bytes()});
      for (std::size_t i = 0; i < numbers.size(); ++i) fn(from + Index(i), numbers[i]);
    }
  });
}

}  // namespace polyad::io
