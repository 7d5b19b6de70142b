#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "polyad/base/error.hpp"

namespace polyad::io {

// Whether something of this name exists; false also where that cannot be found out.
inline bool is_present(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// Whether this is a directory; false also where that cannot be found out.
inline bool is_folder(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

// Throws Error{bad_input} for a file or directory with contents that cannot be used.
[[noreturn]] inline void refuse_contents(const std::filesystem::path& path, const std::string& why) {
  throw Error(Errc::bad_input, why, {path.string(), 0});
}

}  // namespace polyad::io
