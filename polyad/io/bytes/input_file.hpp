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
  // What a file was made to hold.
  enum class Contents { as_stored, csv };
  // Takes over a descriptor of a regular file. `path` is for messages.
  InputFile(const std::filesystem::path& path, int descriptor, Contents contents = Contents::as_stored);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  Index size() const { return size_; }
  bool is_gzip() const;
  // Whether this is the copy of a table of another format as csv; see columnar_file.hpp.
  bool is_csv_copy() const { return contents_ == Contents::csv; }
  // For others who read the same file; it is theirs to close.
  int duplicate_descriptor() const;

  // Fills `into` starting at `offset`; returns fewer bytes only at the end of the file.
  Index read_some(Index offset, std::span<char> into) const;
  // Fills all of `into`, or throws Error{bad_input} if the file is too short.
  void read(Index offset, std::span<char> into) const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  Index size_ = 0;
  Contents contents_ = Contents::as_stored;
};

}  // namespace polyad::io
