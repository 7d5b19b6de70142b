#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace polyad::io {

// SHA-256 (FIPS 180-4) of bytes that come in parts, by which published files are recognised.
class Sha256 {
 public:
  void add(std::string_view bytes);
  // 64 hexadecimal digits. Nothing may be added afterwards.
  std::string finish();

 private:
  void add_block(const char* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::string rest_;  // of the last block, which is not full
  std::uint64_t num_bytes_ = 0;
};

}  // namespace polyad::io
