#pragma once

#include <zlib.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "polyad/io/bytes/input_file.hpp"

namespace polyad::io {

// The bytes of a file from its beginning, decompressed if it is gzip. They are delivered in
// steps, each from an equal share of the *stored* bytes, so that processes with the same
// steps divide a gzip file, whose decompressed length is unknown, at the same positions.
class ByteStream {
 public:
  ByteStream(const InputFile& file, Index stored_bytes_per_step);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  Index num_steps() const;
  // Appends the bytes of the next step to `out`; false at the end. A gzip stream
  // that is damaged, truncated or expands excessively is an Error{bad_input}.
  bool next(std::string& out);

 private:
  void inflate_into(std::string& out, std::span<char> stored);
  void check_complete() const;

  const InputFile& file_;
  Index step_bytes_, stored_position_ = 0, inflated_ = 0;
  std::unique_ptr<z_stream> inflater_;  // null: the file is not compressed
  bool member_complete_ = false;
};

// A text file read line by line, decompressed if it is gzip, with line numbers: for headers,
// labels and other small texts. Lines come without their end, \n or \r\n, and the first
// without a byte order mark. A file whose lines end in \r alone is an Error{bad_input}.
class LineReader {
 public:
  explicit LineReader(const InputFile& file);

  bool next(std::string_view& line);
  Index line_number() const { return line_number_; }  // of the last line, from 1
  Index line_begin() const { return line_begin_; }    // its position in the (decompressed) bytes
  Index next_begin() const { return consumed_ + Index(position_); }

 private:
  bool fill();
  void refuse_carriage_returns() const;

  const InputFile& file_;
  ByteStream stream_;
  std::string buffer_;
  std::size_t position_ = 0;  // of the next line in buffer_
  Index consumed_ = 0;        // bytes before buffer_
  Index line_number_ = 0, line_begin_ = 0;
};

// Number of the line that contains the byte at `offset` of the (decompressed) text.
Index line_number_at(const InputFile& file, Index offset);

}  // namespace polyad::io
