#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "polyad/base/types.hpp"
#include "polyad/io/bytes/staged_file.hpp"

namespace polyad::io {

// Whether a path names a pipe, a device or an open stream of a process:
// these are written directly, and contain nothing that could be overwritten.
bool is_written_directly(const std::filesystem::path& path);

// A file being written. It appears under its name only after commit(), complete and durable: until
// then it is a temporary file next to it (staged_file.hpp), which is removed on errors. Pipes and
// devices are written directly. A full disk is Error{resource}, other failures are Error{io}.
class OutputFile {
 public:
  enum class Compression { none, gzip };

  explicit OutputFile(const std::filesystem::path& path, Compression compression = Compression::none,
                      Existing existing = Existing::replaced);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);
  // Whether others can write into it by its temporary name.
  bool can_be_shared() const { return staged_ != nullptr && deflater_ == nullptr; }
  // Lets write_there(name, offset) put bytes into the file, `ahead` bytes after what was written so far. What
  // is written next comes before them, unless they are skipped.
  void share(Index ahead,
             const std::function<void(const std::filesystem::path& name, Index offset)>& write_there);
  void skip(Index bytes);
  void commit();

 private:
  struct Deflater;

  void pass_on(std::string_view bytes);
  void write_stored(std::string_view bytes);

  std::filesystem::path path_;
  std::unique_ptr<StagedFile> staged_;  // null: written directly
  int descriptor_ = -1;
  std::unique_ptr<Deflater> deflater_;
  std::string pending_;
};

}  // namespace polyad::io
