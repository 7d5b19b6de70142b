#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "polyad/io/bytes/output_file.hpp"
#include "polyad/io/bytes/zip_archive.hpp"
#include "polyad/io/text/line_writer.hpp"

namespace polyad::io {

// The CRC-32 of bytes, after others.
std::uint32_t crc_of(std::string_view bytes, std::uint32_t before = 0);
// The same from their own CRC-32 and their number.
std::uint32_t crc_after(std::uint32_t before, std::uint32_t crc, Index bytes);

// Writes a zip archive of uncompressed members, one after another. Its
// bytes depend on names and contents only: all times are January 1, 1980.
class ZipWriter {
 public:
  // Sizes and positions of at least `zip64_from` are written as zip64; lowered in tests.
  explicit ZipWriter(OutputFile& out, Index zip64_from = 0xFFFFFFFF) : out_(out), zip64_from_(zip64_from) {}

  // The bytes of the member are those of `head` and `body`; two parts, so that large arrays are not copied.
  void add(const std::string& name, std::string_view head, std::string_view body);
  // A body that is not in memory: `bytes` bytes, provided in parts.
  // They are requested twice, and must be the same both times.
  struct Parts {
    Index bytes;
    std::function<void(const WriteText& take)> hand_out;
  };
  void add(const std::string& name, std::string_view head, const Parts& body);
  // A body of `bytes` bytes that write_there(file, offset) puts into the file, see OutputFile::share, and
  // returns the CRC-32 of. Adds nothing and returns false if it returns nothing.
  using WriteThere =
      std::function<std::optional<std::uint32_t>(const std::filesystem::path& file, Index offset)>;
  bool add_shared(const std::string& name, std::string_view head, Index bytes, const WriteThere& write_there);
  // Writes the directory; the file must still be committed.
  void finish();

 private:
  void write(std::string_view bytes);
  std::string member_header(const ZipMember& member) const;
  void write_entry(const ZipMember& member);
  bool needs_zip64(Index number) const { return number >= zip64_from_; }

  OutputFile& out_;
  Index zip64_from_, position_ = 0;
  std::vector<ZipMember> members_;
};

}  // namespace polyad::io
