#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "polyad/base/types.hpp"

namespace polyad::io {

// A file being written. It appears under its name only when commit() is called, whole: until then it
// grows beside it as NAME.partial and vanishes on any error. What is no regular file, such as a pipe or
// a device, is written to directly. A full disk is Error{resource}, all else Error{io}.
class OutputFile {
 public:
  enum class Compression { none, gzip };

  explicit OutputFile(const std::filesystem::path& path, Compression compression = Compression::none);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  struct Deflater;

  void pass_on(std::string_view bytes);
  void write_stored(std::string_view bytes);
  [[noreturn]] void fail(int error) const;

  // target_ is what path_ means, links followed; both others are empty when it is written to directly.
  std::filesystem::path path_, target_, partial_;
  int descriptor_ = -1;
  std::unique_ptr<Deflater> deflater_;
  std::string pending_;
};

}  // namespace polyad::io
