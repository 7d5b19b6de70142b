#include "polyad/io/bytes/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/near_name.hpp"

namespace polyad::io {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what, int error) {
  throw Error(Errc::io,
              what + ": " + std::generic_category().message(error) + (error == ENOENT ? near_name(path) : ""),
              {path.string(), 0});
}

// Files are read more than once, and by several threads and processes at once: only a regular file can be.
void require_regular(const std::filesystem::path& path, mode_t mode) {
  if (S_ISREG(mode)) return;
  if (S_ISDIR(mode)) fail(path, "cannot be read", EISDIR);
  const char* const kind = S_ISFIFO(mode) ? "a pipe" : S_ISSOCK(mode) ? "a socket" : "a device";
  throw Error(
      Errc::io,
      fmt::format("is {}, expected a regular file, which can be read more than once; write it to a file "
                  "first",
                  kind),
      {path.string(), 0});
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& path) : path_(path) {
  // Looked at before it is opened, which can wait (a pipe), fail (a socket) or do something (a device).
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) require_regular(path, status.st_mode);
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor_ < 0) fail(path, "cannot be opened for reading", errno);
  try {
    if (fstat(descriptor_, &status) != 0) fail(path, "cannot be read", errno);
    require_regular(path, status.st_mode);  // it may have been replaced meanwhile
  } catch (...) {
    close(descriptor_);
    throw;
  }
  size_ = Index(status.st_size);
}

InputFile::InputFile(const std::filesystem::path& path, int descriptor, Contents contents)
    : path_(path), descriptor_(descriptor), contents_(contents) {
  struct stat status {};
  if (fstat(descriptor_, &status) != 0) {
    const int error = errno;
    close(descriptor_);
    fail(path, "cannot be read", error);
  }
  size_ = Index(status.st_size);
}

InputFile::~InputFile() {
  close(descriptor_);
}

int InputFile::duplicate_descriptor() const {
  const int descriptor = fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) fail(path_, "cannot be read", errno);
  return descriptor;
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
