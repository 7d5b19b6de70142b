#include "polyad/io/text/field_splitter.hpp"

#include <algorithm>

#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

bool FieldSplitter::split(std::string_view line) {
  fields_.clear();
  unquoted_.clear();
  unquoted_.reserve(line.size());  // so that the views into it stay valid
  while (true) {
    const auto first = line.find_first_not_of(separator_ == "\t" ? " \r" : " \t\r");
    const bool is_quoted = first != std::string_view::npos && line[first] == '"';
    if (is_quoted) {
      line.remove_prefix(first + 1);
      if (!take_quoted(line)) return false;
    } else {
      take_plain(line);
    }
    if (line.empty()) return true;
    line.remove_prefix(separator_.size());
  }
}

// `rest` begins behind the opening quote; afterwards at the next separator, or it is empty.
bool FieldSplitter::take_quoted(std::string_view& rest) {
  const std::size_t begin = unquoted_.size();
  while (true) {
    const auto quote = rest.find('"');
    if (quote == std::string_view::npos) return false;
    unquoted_.append(rest.substr(0, quote));
    rest.remove_prefix(quote + 1);
    if (!rest.starts_with('"')) break;
    unquoted_ += '"';
    rest.remove_prefix(1);
  }
  fields_.push_back(std::string_view(unquoted_).substr(begin));
  while (!rest.empty() && !rest.starts_with(separator_) && is_blank(rest.front())) rest.remove_prefix(1);
  return rest.empty() || rest.starts_with(separator_);
}

void FieldSplitter::take_plain(std::string_view& rest) {
  const auto end = std::min(rest.find(separator_), rest.size());
  fields_.push_back(trimmed(rest.substr(0, end)));
  rest.remove_prefix(end);
}

}  // namespace polyad::io
