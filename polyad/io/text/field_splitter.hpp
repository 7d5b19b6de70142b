#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace polyad::io {

// Splits a line at its separators, such as "," or "::"; " " stands for any number of blanks and tabs. Fields
// may be quoted, with "" for a quote inside; blanks around a field are removed.
class FieldSplitter {
 public:
  explicit FieldSplitter(std::string separator)
      : is_tab_(separator == "\t"), separator_(std::move(separator)) {}

  // The fields of a line, valid until the next call, and those in the line itself as long as it; false if a
  // quote is not closed or is followed by anything but a separator.
  bool split(std::string_view line);
  const std::vector<std::string_view>& fields() const { return fields_; }

 private:
  static std::optional<std::string_view> take_to_quote(std::string_view& rest);
  bool take_quoted(std::string_view& rest);
  void take_plain(std::string_view& rest);
  bool is_at_separator(std::string_view rest) const;
  std::size_t find_separator(std::string_view rest) const;
  void skip_separator(std::string_view& rest) const;

  bool is_tab_;
  std::string separator_;
  std::vector<std::string_view> fields_;
  std::string unquoted_;  // the fields with quotes inside; never longer than the line
};

}  // namespace polyad::io
