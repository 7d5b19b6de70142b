#pragma once

#include <zlib.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "polyad/io/bytes/input_file.hpp"

namespace polyad::io {

// The bytes of a file from its beginning, inflated when it is gzip. It delivers them in steps, each the
// yield of an equal share of the *stored* bytes; so processes that step alike cut a gzip file, whose
// inflated length nobody knows, at the same places.
class ByteStream {
 public:
  ByteStream(const InputFile& file, Index stored_bytes_per_step);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  Index num_steps() const;
  // Appends the next step's bytes to `out`; false when there was none left. A gzip stream that is
  // damaged, ends early or expands beyond all measure is an Error{bad_input}.
  bool next(std::string& out);

 private:
  void inflate_into(std::string& out, std::span<char> stored);
  void check_complete() const;

  const InputFile& file_;
  Index step_bytes_, stored_position_ = 0, inflated_ = 0;
  std::unique_ptr<z_stream> inflater_;  // null: the file is stored as it is
  bool member_complete_ = false;
};

// A text read line by line, through gzip, with line numbers: for heads, labels and other small things.
// Lines come without their end, be it \n or \r\n, and the first without a byte order mark. A file whose lines
// end in \r alone is an Error{bad_input}.
class LineReader {
 public:
  explicit LineReader(const InputFile& file);

  bool next(std::string_view& line);
  Index line_number() const { return line_number_; }  // of the last line; the first is 1
  Index line_begin() const { return line_begin_; }    // its place among the (inflated) bytes
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

// The number of the line that holds the byte at `offset` of the (inflated) text.
Index line_number_at(const InputFile& file, Index offset);

}  // namespace polyad::io
