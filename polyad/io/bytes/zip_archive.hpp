#pragma once

#include <zlib.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "polyad/io/bytes/input_file.hpp"

namespace polyad::io {

// What the directory at the end of a zip archive says of one member.
struct ZipMember {
  std::string name;
  Index header_begin = 0;  // where its own header stands
  Index begin = 0;         // and behind that its bytes
  Index stored_bytes = 0, bytes = 0;
  std::uint32_t crc = 0;
  bool deflated = false;
};

// The members of a zip archive, stored or deflated, of any size (zip64). Throws Error{bad_input} when the
// directory is damaged or a member is stored in any other way.
std::vector<ZipMember> read_zip_directory(const InputFile& file);

// The bytes of one member from its beginning on, inflated.
class ZipMemberReader {
 public:
  ZipMemberReader(const InputFile& file, const ZipMember& member);
  ~ZipMemberReader();
  ZipMemberReader(const ZipMemberReader&) = delete;
  ZipMemberReader& operator=(const ZipMemberReader&) = delete;

  Index bytes_left() const { return bytes_left_; }
  // Fills all of `into`, or throws Error{bad_input} because the member is too short or damaged.
  void read(std::span<char> into);
  // Reads what is left and compares the checksum: until then nothing that was read can be trusted.
  void finish();

 private:
  void inflate_into(std::span<char> into);
  [[noreturn]] void fail(const std::string& why) const;

  const InputFile& file_;
  const ZipMember& member_;
  Index position_, stored_left_, bytes_left_;
  std::uint32_t crc_ = 0;
  std::unique_ptr<z_stream> inflater_;  // null: stored as it is
  std::vector<char> stored_;
};

}  // namespace polyad::io
