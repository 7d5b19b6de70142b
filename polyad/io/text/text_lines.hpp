#pragma once

#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "polyad/io/bytes/byte_stream.hpp"
#include "polyad/io/bytes/input_file.hpp"

namespace polyad::io {

// The share of a file to read: number `part` of `parts` nearly equal byte ranges. A
// line belongs to the share in which it begins, so every line belongs to exactly one.
struct Share {
  int part = 0;
  int parts = 1;
};

// Some complete lines of a text, each ended by \n, and their position in the text.
// number_padding bytes after the last line may be read, so that numbers can be parsed quickly.
struct TextPiece {
  std::string_view lines;
  Index offset = 0;
};
using PieceFn = std::function<bool(const TextPiece&)>;  // false: stop

// A range of text that several threads read at once, each its own
// part: a byte range of an uncompressed file, or lines in memory.
class TextRange {
 public:
  TextRange(const InputFile& file, Index begin, Index end) : file_(&file), begin_(begin), end_(end) {}
  explicit TextRange(TextPiece piece)
      : memory_(piece.lines), begin_(piece.offset), end_(piece.offset + Index(piece.lines.size())) {}

  Index size() const { return end_ - begin_; }
  // Passes on the lines that begin in number `part` of `parts` equal shares of the range, piece by piece.
  void for_each_piece(Share share, const PieceFn& fn) const;

 private:
  void read_pieces(Index begin, Index end, const PieceFn& fn) const;

  const InputFile* file_ = nullptr;
  std::string_view memory_;
  Index begin_, end_;
};

// Passes on a share of the text of a file that begins at `text_begin`: ranges of an
// uncompressed file, or, as decompression proceeds, consecutive ranges of a gzip file. Ranges
// of an uncompressed file have at most `longest` bytes, except for a single longer line.
void for_each_range(const InputFile& file, Index text_begin, Share share,
                    const std::function<void(const TextRange&)>& fn,
                    Index longest = std::numeric_limits<Index>::max());

// The same for tables in which quoted fields may contain line breaks: these are replaced by blanks. Every
// share scans the text from its beginning, and takes every parts-th range.
void for_each_quoted_range(const InputFile& file, Index text_begin, const std::string& separator, Share share,
                           const std::function<void(const TextRange&)>& fn);

}  // namespace polyad::io
