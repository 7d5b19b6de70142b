#pragma once

#include <zlib.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "polyad/io/bytes/input_file.hpp"

namespace polyad::io {

// The number, of 2 or 4 bytes, in place of one that does not fit: it is in the zip64 field.
inline constexpr std::uint64_t in_zip64_16 = 0xFFFF, in_zip64_32 = 0xFFFFFFFF;

// The directory entry of one member of a zip archive.
struct ZipMember {
  std::string name;
  Index header_begin = 0;  // position of its own header
  Index begin = 0;         // position of its bytes, after that header
  Index stored_bytes = 0, bytes = 0;
  std::uint32_t crc = 0;
  bool deflated = false;
};

// The members of a zip archive, stored or deflated, of any size (zip64). Throws
// Error{bad_input} if the directory is damaged or a member is stored in any other way.
std::vector<ZipMember> read_zip_directory(const InputFile& file);

// The decompressed bytes of one member, from its beginning.
class ZipMemberReader {
 public:
  ZipMemberReader(const InputFile& file, const ZipMember& member);
  ~ZipMemberReader();
  ZipMemberReader(const ZipMemberReader&) = delete;
  ZipMemberReader& operator=(const ZipMemberReader&) = delete;

  Index bytes_left() const { return bytes_left_; }
  // Fills all of `into`, or throws Error{bad_input} if the member is too short or damaged.
  void read(std::span<char> into);
  // Reads the rest and verifies the checksum; nothing that was read can be trusted before.
  void finish();

 private:
  void inflate_into(std::span<char> into);
  [[noreturn]] void fail(const std::string& why) const;

  const InputFile& file_;
  const ZipMember& member_;
  Index position_, stored_left_, bytes_left_;
  std::uint32_t crc_ = 0;
  std::unique_ptr<z_stream> inflater_;  // null: not compressed
  std::vector<char> stored_;
};

}  // namespace polyad::io
