#include "polyad/io/tensors/recognition/head_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "polyad/base/error.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/text/field_splitter.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {

bool HeadLines::next() {
  while (lines_.next(line_)) {
    words_ = split_blanks(line_);
    if (words_.empty()) continue;
    if (is_comment(words_[0]))
      read_comment();
    else
      return true;
  }
  words_.clear();
  return false;
}

void HeadLines::require_next(const std::string& expected) {
  if (!next()) fail(fmt::format("the file ends where {} should follow", expected));
}

void HeadLines::fail(const std::string& why) const {
  throw Error(Errc::bad_input, why, {file_.path().string(), lines_.line_number()});
}

Index HeadLines::number(std::size_t word, Index minimum, const std::string& what) const {
  const auto value = parse_index(words_[word]);
  if (!value || *value < minimum)
    fail(fmt::format("{} is {}, not a whole number from {} on", what, in_quotes(words_[word]), minimum));
  return *value;
}

std::vector<Index> HeadLines::dims(int order) const {
  if (int(words_.size()) != order)
    fail(fmt::format("expected {} dimensions, as the order says, found {}", order, words_.size()));
  std::vector<Index> result;
  for (std::size_t m = 0; m < words_.size(); ++m)
    result.push_back(number(m, 1, fmt::format("dimension {}", m + 1)));
  return result;
}

void HeadLines::check_order(Index order) const {
  if (order < min_order || order > max_order)
    fail(fmt::format("a tensor of order {}: Polyad takes orders {} to {}", order, min_order, max_order));
}

void HeadLines::read_comment() {
  const auto colon = line_.find(':');
  if (colon == std::string_view::npos || words_.size() < 2 || words_[0] != "#") return;
  std::vector<Index> numbers;
  for (const auto word : split_blanks(line_.substr(colon + 1)))
    if (const auto n = parse_index(word)) numbers.push_back(*n);
  if (words_[1] == "dims:" && !numbers.empty() && *std::ranges::min_element(numbers) > 0) {
    noted_dims_ = numbers;
    begins_like_own_ = line_number() == 1 && line_ == fmt::format("# dims: {}", fmt::join(numbers, " "));
  }
  if (words_[1] == "nnz:" && numbers.size() == 1) {
    noted_nonzeros_ = numbers[0];
    has_own_comments_ =
        begins_like_own_ && line_number() == 2 && line_ == fmt::format("# nnz: {}", numbers[0]);
  }
}

bool HeadLines::has_only_whole_numbers() const {
  return !words_.empty() &&
         std::ranges::all_of(words_, [](auto word) { return parse_index(word).has_value(); });
}

}  // namespace polyad::io
