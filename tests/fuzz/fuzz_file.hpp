#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "polyad/base/error.hpp"

namespace polyad::fuzz {

// The fuzzer's bytes as a file that lives in memory.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* bytes, std::size_t size) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (write(descriptor_, bytes, size) != ssize_t(size)) std::abort();
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

// Bad input may be refused, with any error but one that means a bug of ours.
template <class Fn>
void expect_sound(Fn fn) {
  try {
    fn();
  } catch (const Error& e) {
    if (e.code() == Errc::internal) std::abort();
  }
}

}  // namespace polyad::fuzz
