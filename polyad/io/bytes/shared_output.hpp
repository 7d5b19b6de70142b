#pragma once

#include <filesystem>
#include <string_view>

#include "polyad/base/types.hpp"

namespace polyad::io {

// A file that another process has created, and into which several write at places of their own.
class SharedOutput {
 public:
  SharedOutput() = default;
  ~SharedOutput();
  SharedOutput(const SharedOutput&) = delete;
  SharedOutput& operator=(const SharedOutput&) = delete;

  // Whether there is such a file. `name`: that errors name.
  bool open(const std::filesystem::path& file, const std::filesystem::path& name);
  // A full disk is Error{resource}, other failures are Error{io}.
  void write(Index offset, std::string_view bytes) const;
  // Makes what was written durable. Does nothing if no file is open.
  void close();

 private:
  std::filesystem::path name_;
  int descriptor_ = -1;
};

}  // namespace polyad::io
