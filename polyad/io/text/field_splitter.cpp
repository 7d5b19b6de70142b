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
  if (separator_ == " ") line = trimmed(line);
  while (true) {
    std::size_t first = 0;
    while (first < line.size() && is_blank(line[first]) && (line[first] != '\t' || !is_tab_)) ++first;
    if (first < line.size() && line[first] == '"') {
      line.remove_prefix(first + 1);
      if (!take_quoted(line)) return false;
    } else {
      take_plain(line);
    }
    if (line.empty()) return true;
    skip_separator(line);
  }
}

// What is before the next quote; `rest` begins behind it then. Nothing: there is none.
std::optional<std::string_view> FieldSplitter::take_to_quote(std::string_view& rest) {
  const auto quote = rest.find('"');
  if (quote == std::string_view::npos) return std::nullopt;
  const auto text = rest.substr(0, quote);
  rest.remove_prefix(quote + 1);
  return text;
}

// `rest` begins behind the opening quote; afterwards at the next separator, or it is empty.
bool FieldSplitter::take_quoted(std::string_view& rest) {
  const auto text = take_to_quote(rest);
  if (!text) return false;
  if (rest.starts_with('"')) {
    const std::size_t begin = unquoted_.size();
    unquoted_.append(*text);
    while (rest.starts_with('"')) {
      unquoted_ += '"';
      rest.remove_prefix(1);
      const auto more = take_to_quote(rest);
      if (!more) return false;
      unquoted_.append(*more);
    }
    fields_.push_back(std::string_view(unquoted_).substr(begin));
  } else {
    fields_.push_back(*text);
  }
  while (!rest.empty() && !is_at_separator(rest) && is_blank(rest.front())) rest.remove_prefix(1);
  return rest.empty() || is_at_separator(rest);
}

void FieldSplitter::take_plain(std::string_view& rest) {
  const auto end = std::min(find_separator(rest), rest.size());
  fields_.push_back(trimmed(rest.substr(0, end)));
  rest.remove_prefix(end);
}

bool FieldSplitter::is_at_separator(std::string_view rest) const {
  return separator_ == " " ? is_blank(rest.front()) : rest.starts_with(separator_);
}

std::size_t FieldSplitter::find_separator(std::string_view rest) const {
  if (separator_.size() > 1) return rest.find(separator_);
  return separator_ == " " ? rest.find_first_of(" \t\r") : rest.find(separator_[0]);
}

void FieldSplitter::skip_separator(std::string_view& rest) const {
  if (separator_ != " ") return rest.remove_prefix(separator_.size());
  while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
}

}  // namespace polyad::io
