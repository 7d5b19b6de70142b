#include "polyad/io/bytes/standard_input.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include "polyad/base/error.hpp"

namespace polyad::io {
namespace {

constexpr const char* standard_input_path = "-";

[[noreturn]] void fail_standard_input(Errc code, const std::string& what, int error) {
  throw Error(code, what + ": " + std::generic_category().message(error), {standard_input_path, 0});
}

// The copy of standard input, of which a process has only one.
class StandardInputCopy {
 public:
  static StandardInputCopy& of_process() {
    static StandardInputCopy copy;
    return copy;
  }

  // A descriptor of its own for whoever reads the copy.
  int open() {
    const std::scoped_lock lock(mutex_);
    if (!is_received_) read_all();
    is_received_ = true;
    const int descriptor = fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0) fail_standard_input(Errc::io, "cannot be read", errno);
    return descriptor;
  }

  void receive(std::string_view part) {
    const std::scoped_lock lock(mutex_);
    append(part);
    is_received_ = true;
  }

 private:
  void create() {
    if (descriptor_ >= 0) return;
    std::error_code ignored;
    auto folder = std::filesystem::temp_directory_path(ignored);
    if (folder.empty()) folder = "/tmp";
    std::string name = (folder / "polyad-XXXXXX").string();
    descriptor_ = mkostemp(name.data(), O_CLOEXEC);
    if (descriptor_ < 0)
      fail_standard_input(Errc::io, "cannot be copied to a temporary file in " + folder.string(), errno);
    unlink(name.c_str());
  }

  void append(std::string_view bytes) {
    create();
    while (!bytes.empty()) {
      const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0)
        fail_standard_input(Errc::resource, "cannot be copied to a temporary file (TMPDIR says where)",
                            errno);
      bytes.remove_prefix(std::size_t(written));
    }
  }

  void read_all() {
    append("");
    std::vector<char> buffer(std::size_t(1) << 18);
    while (true) {
      const ssize_t got = read(STDIN_FILENO, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_standard_input(Errc::io, "standard input cannot be read", errno);
      if (got == 0) return;
      append({buffer.data(), std::size_t(got)});
    }
  }

  std::mutex mutex_;
  int descriptor_ = -1;
  bool is_received_ = false;
};

}  // namespace

bool is_standard_input(const std::filesystem::path& path) {
  return path == standard_input_path;
}

InputFile open_input(const std::filesystem::path& path) {
  if (!is_standard_input(path)) return InputFile(path);
  return {path, StandardInputCopy::of_process().open()};
}

void receive_standard_input(std::string_view part) {
  StandardInputCopy::of_process().receive(part);
}

}  // namespace polyad::io
