#include "polyad/io/bytes/shared_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "polyad/io/bytes/staged_file.hpp"

namespace polyad::io {

SharedOutput::~SharedOutput() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool SharedOutput::open(const std::filesystem::path& file, const std::filesystem::path& name) {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));  // after an error
  name_ = name;
  descriptor_ = ::open(file.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  return descriptor_ >= 0;
}

void SharedOutput::write(Index offset, std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t done = pwrite(descriptor_, bytes.data(), bytes.size(), off_t(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail_writing(name_, errno);
    bytes.remove_prefix(std::size_t(done));
    offset += done;
  }
}

void SharedOutput::close() {
  if (descriptor_ < 0) return;
  if (fsync(descriptor_) != 0 && !is_unsupported(errno)) fail_writing(name_, errno);
  if (::close(std::exchange(descriptor_, -1)) != 0) fail_writing(name_, errno);
}

}  // namespace polyad::io
