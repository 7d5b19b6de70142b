#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "polyad/io/bytes/byte_stream.hpp"
#include "polyad/io/bytes/input_file.hpp"

namespace polyad::io {

// The head of a text: its lines one after the other, comments aside, with what the comments of
// Polyad's own writer state.
class HeadLines {
 public:
  explicit HeadLines(const InputFile& file) : file_(file), lines_(file) {}

  // The next line that is neither blank nor a comment, or false at the end.
  bool next();
  // The same; it is an error if the file ends here, where `expected` should follow.
  void require_next(const std::string& expected);

  std::string_view line() const { return line_; }
  const std::vector<std::string_view>& words() const { return words_; }
  bool has_only_whole_numbers() const;
  Index line_number() const { return lines_.line_number(); }
  Index line_begin() const { return lines_.line_begin(); }

  // What comments say: # dims and # nnz; and whether they stand where Polyad writes them, and as it does.
  const std::vector<Index>& noted_dims() const { return noted_dims_; }
  std::optional<Index> noted_nonzeros() const { return noted_nonzeros_; }
  bool has_own_comments() const { return has_own_comments_; }

  // Throws Error{bad_input} with this line.
  [[noreturn]] void fail(const std::string& why) const;
  // A whole number of at least `minimum`, the word-th of this line.
  Index number(std::size_t word, Index minimum, const std::string& what) const;
  // This line as a list of dimensions.
  std::vector<Index> dims(int order) const;
  void check_order(Index order) const;

 private:
  void read_comment();

  const InputFile& file_;
  LineReader lines_;
  std::string_view line_;
  std::vector<std::string_view> words_;
  std::vector<Index> noted_dims_;
  std::optional<Index> noted_nonzeros_;
  bool begins_like_own_ = false, has_own_comments_ = false;
};

}  // namespace polyad::io
