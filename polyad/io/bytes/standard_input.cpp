#include "polyad/io/bytes/standard_input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/columnar_file.hpp"

namespace polyad::io {
namespace {

constexpr const char* standard_input_path = "-";

[[noreturn]] void fail_standard_input(Errc code, const std::string& what, int error) {
  throw Error(code, what + ": " + std::generic_category().message(error), {standard_input_path, 0});
}

int open_unnamed_file(const std::filesystem::path& copied) {
  std::error_code ignored;
  auto folder = std::filesystem::temp_directory_path(ignored);
  if (folder.empty()) folder = "/tmp";
  std::string name = (folder / "polyad-XXXXXX").string();
  const int descriptor = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0)
    throw Error(Errc::io,
                "cannot be copied to a temporary file in " + folder.string() + ": " +
                    std::generic_category().message(errno),
                {copied.string(), 0});
  unlink(name.c_str());
  return descriptor;
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
    if (descriptor_ < 0) descriptor_ = open_unnamed_file(standard_input_path);
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

InputFile open_stored(const std::filesystem::path& path) {
  if (!is_standard_input(path)) return InputFile(path);
  return {path, StandardInputCopy::of_process().open()};
}

// The last tables that were copied as csv: a table is opened more than once.
class CsvCopies {
 public:
  static CsvCopies& of_process() {
    static CsvCopies copies;
    return copies;
  }

  // A descriptor of the copy, or -1 if the file is no such table.
  int open(const std::filesystem::path& path) {
    const InputFile file = open_stored(path);
    if (!is_columnar(file)) return -1;
    const std::scoped_lock lock(mutex_);
    const auto key = key_of(file);
    const auto known = std::ranges::find(copies_, key, &Copy::key);
    if (known != copies_.end()) return duplicate(known->descriptor, path);
    const int descriptor = open_unnamed_file(path);
    try {
      write_as_csv(file, descriptor);
    } catch (...) {
      close(descriptor);
      throw;
    }
    constexpr std::size_t most = 4;
    if (copies_.size() == most) {
      close(copies_.front().descriptor);
      copies_.pop_front();
    }
    copies_.push_back({key, descriptor});
    return duplicate(descriptor, path);
  }

 private:
  using Key = std::array<Index, 5>;  // device, number, size and time of the last change
  struct Copy {
    Key key;
    int descriptor;
  };

  static Key key_of(const InputFile& file) {
    struct stat status {};
    const int descriptor = file.duplicate_descriptor();
    const int failed = fstat(descriptor, &status);
    close(descriptor);
    if (failed != 0) throw Error(Errc::io, "cannot be read", {file.path().string(), 0});
    return {Index(status.st_dev), Index(status.st_ino), Index(status.st_size), Index(status.st_mtim.tv_sec),
            Index(status.st_mtim.tv_nsec)};
  }
  static int duplicate(int descriptor, const std::filesystem::path& path) {
    const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) throw Error(Errc::io, "cannot be read", {path.string(), 0});
    return copy;
  }

  std::mutex mutex_;
  std::deque<Copy> copies_;
};

}  // namespace

bool is_standard_input(const std::filesystem::path& path) {
  return path == standard_input_path;
}

InputFile open_input(const std::filesystem::path& path) {
  if (reads_columnar())
    if (const int copy = CsvCopies::of_process().open(path); copy >= 0)
      return {path, copy, InputFile::Contents::csv};
  return open_stored(path);
}

void receive_standard_input(std::string_view part) {
  StandardInputCopy::of_process().receive(part);
}

}  // namespace polyad::io
