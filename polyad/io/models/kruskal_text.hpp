#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/io/bytes/byte_stream.hpp"
#include "polyad/io/bytes/output_file.hpp"

// Common parts of the text formats of Kruskal tensors, SPLATT's and Tensor Toolbox's.
namespace polyad::io {

// A text of numbers, line by line. Blank lines and comments (//, # and %) are skipped.
class NumberText {
 public:
  explicit NumberText(const InputFile& file) : file_(file), lines_(file) {}

  bool next();  // false at the end
  void require_next(const std::string& expected);

  std::string_view first_word() const;
  // The last comments that were skipped, since the last line, without their signs; at most some.
  const std::vector<std::string>& comments() const { return comments_; }
  // The numbers of this line, valid until the next one; all must be finite. `as` explains
  // why `expected` numbers are required: "expected 4 numbers as in row 1, found 3".
  std::span<const double> reals();
  std::span<const double> reals(Index expected, std::string_view as);
  // The line as `expected` integers from 1 on.
  std::vector<Index> sizes(Index expected, std::string_view as) const;

  [[noreturn]] void fail(const std::string& why) const;

 private:
  const InputFile& file_;
  LineReader lines_;
  std::string_view line_;  // without leading blanks
  std::string text_;       // the line with the end that number parsers need
  std::vector<double> numbers_;
  std::vector<std::string> comments_;
};

// A matrix whose rows arrive one by one, in unknown (or untrusted) number. Blocks are freed as
// they are copied, so that the peak is twice the matrix, not three times as for a growing array.
class GrowingMatrix {
 public:
  explicit GrowingMatrix(Index num_cols) : num_cols_(num_cols) {}

  void append(std::span<const double> row);
  Index num_rows() const { return num_rows_; }
  Matrix<double> matrix() &&;

 private:
  Index num_rows_ = 0, num_cols_;
  std::vector<Array<double>> blocks_;
};

// Numbers in shortest form, with a separator between them and a line end.
void write_row(OutputFile& out, std::span<const double> row);
// A line for each row; with all threads.
void write_rows(OutputFile& out, const Matrix<double>& rows);
std::string rows_text(const Matrix<double>& rows);

}  // namespace polyad::io
