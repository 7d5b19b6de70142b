#include "polyad/io/arrays/npy_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <optional>
#include <system_error>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/output_file.hpp"
#include "polyad/io/bytes/stored_numbers.hpp"

namespace polyad::io {
namespace {

// Nothing where they cannot be counted, even if one of the extents is 0: others multiply them in any order.
std::optional<Index> bytes_of(const NpyHead& head) {
  Index bytes = head.width;
  for (const Index extent : head.shape)
    if (__builtin_mul_overflow(bytes, std::max(extent, Index(1)), &bytes)) return std::nullopt;
  return std::ranges::find(head.shape, 0) != head.shape.end() ? 0 : bytes;
}

}  // namespace

NpyHead read_npy_head(const InputFile& file, NpyElements elements) {
  const auto fail = [&](const std::string& why) {
    throw Error(Errc::bad_input, why, {file.path().string(), 0});
  };
  Index position = 0;
  auto head = read_npy_head({file.size(),
                             [&](std::span<char> into) {
                               file.read(position, into);
                               position += std::ssize(into);
                             },
                             fail},
                            elements);
  const auto expected = bytes_of(head);
  const Index found = file.size() - head.begin;
  if (!expected || *expected != found)
    fail(fmt::format("has {} bytes of numbers, expected {} for the shape ({})", found,
                     expected ? fmt::format("{}", *expected) : "2^63 or more", fmt::join(head.shape, ", ")));
  return head;
}

NpyFile::NpyFile(const std::filesystem::path& path)
    : file_(path), head_(read_npy_head(file_, NpyElements::reals)) {}

void NpyFile::fail(const std::string& why) const {
  throw Error(Errc::bad_input, why, {file_.path().string(), 0});
}

void NpyFile::fail_not_finite(double value, Index place) const {
  fail(fmt::format("has the value '{}' as number {}, which is not finite", value, place));
}

template <class Stored, class Bits>
Stored NpyFile::number(Bits bits) const {
  if (head_.swapped) bits = sizeof(Bits) == 4 ? __builtin_bswap32(bits) : __builtin_bswap64(bits);
  return std::bit_cast<Stored>(bits);
}

template <class Stored, class Bits, class Real>
void NpyFile::read_as(Index first, std::span<Real> into) const {
  std::vector<Index> bad(std::size_t(num_threads()), -1);
  read_numbers<Bits>(file_, head_.begin + first * head_.width, std::ssize(into), [&](Index place, Bits bits) {
    const auto value = number<Stored>(bits);
    auto& found = bad[std::size_t(omp_get_thread_num())];
    if (!std::isfinite(value) && found < 0) found = place;
    into[std::size_t(place)] = Real(value);
  });
  for (const Index place : bad)
    if (place >= 0) fail_not_finite(double(into[std::size_t(place)]), first + place);
}

// What lies between is read too, as long as it is little.
template <class Stored, class Bits, class Real>
void NpyFile::read_apart_as(Index first, Index step, std::span<Real> into) const {
  constexpr Index max_numbers = Index(1) << 13, max_between = 512;
  const Index at_once = step > max_between ? 1 : 1 + (max_numbers - 1) / step;
  std::vector<Bits> stretch;
  for (Index from = 0; from < std::ssize(into); from += at_once) {
    const Index count = std::min(at_once, std::ssize(into) - from), begin = first + from * step;
    stretch.resize(std::size_t((count - 1) * step + 1));
    file_.read(head_.begin + begin * head_.width,
               {reinterpret_cast<char*>(stretch.data()), stretch.size() * sizeof(Bits)});
    for (Index i = 0; i < count; ++i) {
      const auto value = number<Stored>(stretch[std::size_t(i * step)]);
      if (!std::isfinite(value)) fail_not_finite(double(value), begin + i * step);
      into[std::size_t(from + i)] = Real(value);
    }
  }
}

template <class Real>
void NpyFile::read(Index first, std::span<Real> into) const {
  if (head_.width == 4)
    read_as<float, std::uint32_t>(first, into);
  else
    read_as<double, std::uint64_t>(first, into);
}
template void NpyFile::read(Index, std::span<float>) const;
template void NpyFile::read(Index, std::span<double>) const;

template <class Real>
void NpyFile::read_apart(Index first, Index step, std::span<Real> into) const {
  if (head_.width == 4)
    read_apart_as<float, std::uint32_t>(first, step, into);
  else
    read_apart_as<double, std::uint64_t>(first, step, into);
}
template void NpyFile::read_apart(Index, Index, std::span<float>) const;
template void NpyFile::read_apart(Index, Index, std::span<double>) const;

void check_placed_file(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_fifo(status) || std::filesystem::is_socket(status) ||
      (is_written_directly(path) && !std::filesystem::is_character_file(status)))
    throw Error(Errc::io, "is no regular file, which is needed to write at several places",
                {path.string(), 0});
}

NewPlacedFile::NewPlacedFile(const std::filesystem::path& path, Index bytes, Existing existing)
    : place_(path) {
  check_placed_file(path);
  if (is_written_directly(path)) return;
  staged_ = std::make_unique<StagedFile>(path, existing);
  place_ = staged_->staged_path();
  if (ftruncate(staged_->descriptor(), off_t(bytes)) != 0) fail_writing(path, errno);
}

void NewPlacedFile::commit() {
  if (staged_) staged_->commit();
}

PlacedFile::PlacedFile(const std::filesystem::path& path, const std::filesystem::path& place)
    : path_(path), descriptor_(open(place.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC)) {
  if (descriptor_ < 0) fail_writing(path, errno);
}

PlacedFile::~PlacedFile() {
  close(descriptor_);
}

void PlacedFile::sync() const {
  if (fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP) fail_writing(path_, errno);
}

void PlacedFile::write(Index offset, std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(descriptor_, bytes.data(), bytes.size(), off_t(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_writing(path_, errno);
    bytes.remove_prefix(std::size_t(written));
    offset += Index(written);
  }
}

}  // namespace polyad::io
