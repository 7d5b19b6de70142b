#include "polyad/io/text/line_writer.hpp"

#include <algorithm>
#include <vector>

#include "polyad/base/parallel.hpp"

namespace polyad::io {

void write_lines(const WriteText& write, Index count, const AppendLine& append_line) {
  const Index per_round = Index(num_threads()) << 16;
  std::vector<std::string> parts(num_threads());
  for (Index from = 0; from < count; from += per_round) {
    parallel_parts(std::min(per_round, count - from), [&](Index begin, Index end, int thread) {
      auto& text = parts[thread];
      text.clear();
      for (Index z = from + begin; z < from + end; ++z) append_line(text, z);
    });
    for (auto& text : parts) {
      write(text);
      text.clear();
    }
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
