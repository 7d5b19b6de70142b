#include <algorithm>

#include "polyad/base/error.hpp"
#include "polyad/io/text/number_text.hpp"
#include "polyad/io/text/text_lines.hpp"

namespace polyad::io {
namespace {

constexpr std::size_t quoted_range_bytes = std::size_t(1) << 24;
constexpr Index quoted_step_bytes = 1 << 18;
constexpr std::size_t max_record_bytes = std::size_t(1) << 26;

// Replaces the line breaks inside quoted fields of a text that comes in pieces. Positions stay as they are.
class QuotedBreaks {
 public:
  explicit QuotedBreaks(const std::string& separator) : separator_(separator) {}

  // Returns the position behind the last line break that ends a line; 0 if there is none.
  std::size_t replace(std::string& text, std::size_t from) {
    std::size_t end = 0;
    for (std::size_t i = from; i < text.size(); ++i) {
      const char c = text[i];
      if (is_inside_) {
        if (c == '"') is_inside_ = false;
        if (c == '\n' || c == '\r') text[i] = ' ';
      } else if (c == '"') {
        // A second quote behind a closing one belongs to the field: "say ""hi""".
        is_inside_ = begins_field_ || last_ == '"';
      } else if (c == '\n') {
        end = i + 1;
      }
      if (!is_inside_ && c != '"')
        begins_field_ = c == '\n' || ends_separator(c) || (begins_field_ && is_blank(c));
      else
        begins_field_ = false;
      last_ = c;
    }
    return end;
  }

 private:
  bool ends_separator(char c) const {
    if (separator_ == " ") return is_blank(c);
    return c == separator_.back() && (separator_.size() == 1 || last_ == separator_[0]);
  }

  std::string separator_;
  bool is_inside_ = false, begins_field_ = true;
  char last_ = '\n';
};

}  // namespace

void for_each_quoted_range(const InputFile& file, Index text_begin, const std::string& separator, Share share,
                           const std::function<void(const TextRange&)>& fn) {
  ByteStream stream(file, quoted_step_bytes);
  QuotedBreaks breaks(separator);
  std::string pending;  // from the byte `offset` on
  Index offset = 0, number = 0;
  std::size_t scanned = 0, cut = 0;
  const auto pass_on = [&](std::size_t bytes) {
    std::string lines = pending.substr(0, bytes);
    if (lines.back() != '\n') lines.push_back('\n');
    const std::size_t size = lines.size();
    lines.append(number_padding, '\0');
    if (number++ % share.parts == share.part)
      fn(TextRange(TextPiece{std::string_view(lines).substr(0, size), offset}));
    pending.erase(0, bytes);
    offset += Index(bytes);
    scanned -= bytes;
    cut = 0;
  };
  for (bool any = true; any;) {
    any = stream.next(pending);
    if (offset < text_begin) {
      const auto skip = std::size_t(std::min(text_begin - offset, Index(pending.size())));
      pending.erase(0, skip);
      offset += Index(skip);
    }
    cut = std::max(cut, breaks.replace(pending, scanned));
    scanned = pending.size();
    if (pending.size() - cut > max_record_bytes)
      throw Error(Errc::bad_input, "has a quoted field or a line of more than 64 MiB",
                  {file.path().string(), 0});
    if (pending.size() >= quoted_range_bytes && cut > 0) pass_on(cut);
  }
  if (!pending.empty()) pass_on(pending.size());
}

}  // namespace polyad::io
