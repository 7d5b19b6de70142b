#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "polyad/base/types.hpp"

namespace polyad::io {

// A file opened for reading at any position, by several threads at once. It
// is read, not mapped: a file that shrinks is then an error and not a signal.
class InputFile {
 public:
  // Throws Error{io} with the path if the file is missing, not
  // a regular file, or not readable. Does not wait for a pipe.
  explicit InputFile(const std::filesystem::path& path);
  // Takes over a descriptor of a regular file. `path` is for messages.
  InputFile(const std::filesystem::path& path, int descriptor);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  Index size() const { return size_; }
  bool is_gzip() const;

  // Fills `into` starting at `offset`; returns fewer bytes only at the end of the file.
  Index read_some(Index offset, std::span<char> into) const;
  // Fills all of `into`, or throws Error{bad_input} if the file is too short.
  void read(Index offset, std::span<char> into) const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  Index size_ = 0;
};

}  // namespace polyad::io
