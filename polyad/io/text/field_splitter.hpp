#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace polyad::io {

// Splits a line at its separators ("::" if the separator is a colon). Fields
// may be quoted, with "" for a quote inside; blanks around a field are removed.
class FieldSplitter {
 public:
  explicit FieldSplitter(char separator) : separator_(separator == ':' ? 2 : 1, separator) {}

  // The fields of a line, valid until the next call; false if a
  // quote is not closed or is followed by anything but a separator.
  bool split(std::string_view line);
  const std::vector<std::string_view>& fields() const { return fields_; }

 private:
  bool take_quoted(std::string_view& rest);
  void take_plain(std::string_view& rest);

  std::string separator_;
  std::vector<std::string_view> fields_;
  std::string unquoted_;  // the quoted fields of the line; never longer than the line
};

}  // namespace polyad::io
