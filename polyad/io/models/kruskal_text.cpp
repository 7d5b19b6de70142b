#include "polyad/io/models/kruskal_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "polyad/base/error.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/text/line_writer.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

constexpr std::size_t block_numbers = std::size_t(1) << 20;

void append_row(std::string& line, std::span<const double> row) {
  for (const double value : row) {
    append_number(line, value);
    line += ' ';
  }
  line.back() = '\n';
}

}  // namespace

bool NumberText::next() {
  constexpr std::size_t most_comments = 16, longest = 256;
  comments_.clear();
  while (lines_.next(line_)) {
    const auto begin = line_.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) continue;
    line_.remove_prefix(begin);
    if (!is_comment(line_)) return true;
    const auto text = line_.find_first_not_of("#%/ \t");
    if (comments_.size() < most_comments && text != std::string_view::npos)
      comments_.emplace_back(line_.substr(text, longest));
  }
  line_ = {};
  return false;
}

void NumberText::require_next(const std::string& expected) {
  if (!next()) fail(fmt::format("the file ends where {} should follow", expected));
}

std::string_view NumberText::first_word() const {
  return line_.substr(0, line_.find_first_of(" \t\r"));
}

std::span<const double> NumberText::reals() {
  text_.assign(line_);
  text_ += '\n';
  text_.append(number_padding, '\0');
  numbers_.clear();
  const char* p = text_.data();
  while (true) {
    while (is_blank(*p)) ++p;
    if (*p == '\n') return numbers_;
    const std::string_view rest(p);
    const auto [value, end] = read_real(p);
    if (end == nullptr || !std::isfinite(value))
      fail(fmt::format("value {} is not {}", in_quotes(rest.substr(0, rest.find_first_of(" \t\r\n"))),
                       end != nullptr ? "finite" : "a number"));
    numbers_.push_back(value);
    p = end;
  }
}

std::span<const double> NumberText::reals(Index expected, std::string_view as) {
  const auto numbers = reals();
  if (Index(numbers.size()) != expected)
    fail(fmt::format("expected {}{}, found {}", counted(expected, "number"), as, numbers.size()));
  return numbers;
}

std::vector<Index> NumberText::sizes(Index expected, std::string_view as) const {
  const auto words = split_blanks(line_);
  std::vector<Index> result;
  for (const auto word : words) {
    const auto size = parse_index(word);
    if (!size || *size < 1) fail(fmt::format("{} is not a whole number from 1 on", in_quotes(word)));
    result.push_back(*size);
  }
  if (Index(result.size()) != expected)
    fail(fmt::format("expected {}{}, found {}", counted(expected, "number"), as, result.size()));
  return result;
}

void NumberText::fail(const std::string& why) const {
  throw Error(Errc::bad_input, why, {file_.path().string(), lines_.line_number()});
}

void GrowingMatrix::append(std::span<const double> row) {
  if (blocks_.empty() || blocks_.back().size() >= block_numbers) blocks_.emplace_back();
  blocks_.back().insert(blocks_.back().end(), row.begin(), row.end());
  ++num_rows_;
}

Matrix<double> GrowingMatrix::matrix() && {
  Matrix<double> result(num_rows_, num_cols_);
  auto to = result.flat().begin();
  for (auto& block : blocks_) {
    to = std::ranges::copy(block, to).out;
    block = {};
  }
  return result;
}

void write_row(OutputFile& out, std::span<const double> row) {
  std::string line;
  append_row(line, row);
  out.write(line);
}

void write_rows(OutputFile& out, const Matrix<double>& rows) {
  write_lines([&](std::string_view text) { out.write(text); }, rows.num_rows(),
              [&](std::string& line, Index row) { append_row(line, rows.row(row)); });
}

std::string rows_text(const Matrix<double>& rows) {
  std::string all;
  write_lines([&](std::string_view text) { all += text; }, rows.num_rows(),
              [&](std::string& line, Index row) { append_row(line, rows.row(row)); });
  return all;
}

}  // namespace polyad::io
