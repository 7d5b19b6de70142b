#include "polyad/io/text/line_writer.hpp"

#include <algorithm>
#include <vector>

#include "polyad/base/parallel.hpp"
#include "polyad/base/text_buffer.hpp"

namespace polyad::io {
namespace {

// The texts of consecutive parts of some lines, a part for each thread.
class FormattedLines {
 public:
  FormattedLines() : texts_(num_threads()), ends_(texts_.size()) {
    for (auto& text : texts_) text.reserve(max_part_bytes());
  }

  // Formats lines [begin, end). A thread whose lines are much longer than was expected stops early.
  void format(Index begin, Index end, const AppendLine& append_line) {
    end_ = end;
    // A team may have fewer threads than the one before.
    for (auto& text : texts_) text.clear();
    std::ranges::fill(ends_, End{end, true});
    parallel_parts(end - begin, [&](Index part_begin, Index part_end, int thread) {
      auto& text = texts_[thread];
      Index z = begin + part_begin;
      for (; z < begin + part_end && text.size() < max_part_bytes(); ++z) append_line(text, z);
      ends_[thread] = {z, z == begin + part_end};
    });
  }

  // Writes the text up to the first thread that stopped early, and returns the first line that is not in it.
  Index write_to(const WriteText& write, Index& bytes) const {
    bytes = 0;
    for (std::size_t part = 0; part < texts_.size(); ++part) {
      write(texts_[part]);
      bytes += std::ssize(texts_[part]);
      if (!ends_[part].is_complete) return ends_[part].line;
    }
    return end_;
  }

 private:
  struct End {
    Index line = 0;
    bool is_complete = true;
  };

  std::size_t max_part_bytes() const { return std::size_t(max_text_bytes) / texts_.size(); }

  std::vector<std::string> texts_;
  std::vector<End> ends_;
  Index end_ = 0;
};

// The number of lines whose text has half the size allowed if they are as long as the `count` lines before.
// It at most doubles, since later lines may be longer.
Index next_count(Index count, Index bytes) {
  const Index mean = std::max<Index>(1, bytes / count);
  return std::max<Index>(num_threads(), std::min(max_text_bytes / 2 / mean, 2 * count));
}

}  // namespace

void write_lines(const WriteText& write, Index count, const AppendLine& append_line) {
  if (count == 0) return;
  FormattedLines lines;
  Index at_once = Index(num_threads()) << 8, bytes = 0;
  for (Index from = 0; from < count;) {
    lines.format(from, std::min(count, from + at_once), append_line);
    const Index next = lines.write_to(write, bytes);
    at_once = next_count(next - from, bytes);
    from = next;
  }
}

void append_field(std::string& out, std::string_view field, char separator) {
  const std::string_view misread = separator == ',' ? ",\"\r\t;" : "\"\r\t";
  if (field.find_first_of(misread) == std::string_view::npos && !field.starts_with(' ') &&
      !field.ends_with(' ')) {
    out += field;
    return;
  }
  out += '"';
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace polyad::io
