#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "polyad/io/bytes/output_file.hpp"
#include "polyad/io/bytes/zip_archive.hpp"
#include "polyad/io/text/line_writer.hpp"

namespace polyad::io {

// Writes a zip archive of stored members, one after the other. Its bytes depend on names and contents
// alone: every time is the first of January 1980.
class ZipWriter {
 public:
  // Sizes and places from `zip64_from` on are written as zip64; tests lower it to see that on small files.
  explicit ZipWriter(OutputFile& out, Index zip64_from = 0xFFFFFFFF) : out_(out), zip64_from_(zip64_from) {}

  // The member's bytes are those of `head` and `body`, in two parts so that large arrays are not copied.
  void add(const std::string& name, std::string_view head, std::string_view body);
  // A body that is not in memory: so many bytes, handed out part by part. This happens twice, and both times
  // they must be the same.
  struct Parts {
    Index bytes;
    std::function<void(const WriteText& take)> hand_out;
  };
  void add(const std::string& name, std::string_view head, const Parts& body);
  // Writes the directory; the file is still to be committed.
  void finish();

 private:
  void write(std::string_view bytes);
  void write_entry(const ZipMember& member);
  bool needs_zip64(Index number) const { return number >= zip64_from_; }

  OutputFile& out_;
  Index zip64_from_, position_ = 0;
  std::vector<ZipMember> members_;
};

}  // namespace polyad::io
