#pragma once

#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "polyad/io/bytes/byte_stream.hpp"
#include "polyad/io/bytes/input_file.hpp"

namespace polyad::io {

// Which share of a file to read: the part-th of `parts` nearly equal byte ranges. A line belongs to the
// share in which it begins, so every line belongs to exactly one.
struct Share {
  int part = 0;
  int parts = 1;
};

// Some whole lines of a text, each ended by \n, and where among the text's bytes they begin. A few bytes
// behind the last line, number_padding of them, may be read, so that numbers can be read at once.
struct TextPiece {
  std::string_view lines;
  Index offset = 0;
};
using PieceFn = std::function<bool(const TextPiece&)>;  // false: stop here

// A stretch of text that several threads read at once, each its own part: a byte range of a stored
// file, or lines in memory.
class TextRange {
 public:
  TextRange(const InputFile& file, Index begin, Index end) : file_(&file), begin_(begin), end_(end) {}
  explicit TextRange(TextPiece piece)
      : memory_(piece.lines), begin_(piece.offset), end_(piece.offset + Index(piece.lines.size())) {}

  Index size() const { return end_ - begin_; }
  // Hands over the lines that begin in the part-th of `parts` equal shares of the range, piece by piece.
  void for_each_piece(Share share, const PieceFn& fn) const;

 private:
  void read_pieces(Index begin, Index end, const PieceFn& fn) const;

  const InputFile* file_ = nullptr;
  std::string_view memory_;
  Index begin_, end_;
};

// Hands over a share of a file's text that begins at `text_begin`, as one range of a stored file, or,
// as inflation goes on, as one range after the other of a gzip file. Ranges of a stored file are at most
// `longest` bytes, but for a line that is longer.
void for_each_range(const InputFile& file, Index text_begin, Share share,
                    const std::function<void(const TextRange&)>& fn,
                    Index longest = std::numeric_limits<Index>::max());

}  // namespace polyad::io
