#include "polyad/io/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "polyad/base/error.hpp"

namespace polyad::io {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what, int error) {
  throw Error(Errc::io, what + ": " + std::generic_category().message(error), {path.string(), 0});
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& path)
    : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (descriptor_ < 0) fail(path, "cannot be opened for reading", errno);
  struct stat status {};
  const int failed = fstat(descriptor_, &status) != 0 ? errno : S_ISDIR(status.st_mode) ? EISDIR : 0;
  if (failed == 0 && S_ISREG(status.st_mode)) {
    size_ = Index(status.st_size);
    return;
  }
  close(descriptor_);
  if (failed != 0) fail(path, "cannot be read", failed);
  throw Error(Errc::io, "is no regular file; tensors are read at several places at once, so not from pipes",
              {path.string(), 0});
}

InputFile::~InputFile() {
  close(descriptor_);
}

bool InputFile::is_gzip() const {
  std::array<char, 2> magic{};
  return read_some(0, magic) == 2 && magic[0] == '\x1f' && magic[1] == '\x8b';
}

Index InputFile::read_some(Index offset, std::span<char> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got =
        pread(descriptor_, into.data() + done, into.size() - done, off_t(offset + Index(done)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path_, "cannot be read", errno);
    if (got == 0) break;
    done += std::size_t(got);
  }
  return Index(done);
}

void InputFile::read(Index offset, std::span<char> into) const {
  if (read_some(offset, into) == Index(into.size())) return;
  throw Error(
      Errc::bad_input,
      fmt::format("is truncated: {} bytes were expected, it has {}", offset + Index(into.size()), size_),
      {path_.string(), 0});
}

}  // namespace polyad::io
