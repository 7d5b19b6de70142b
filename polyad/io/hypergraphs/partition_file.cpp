#include "polyad/io/hypergraphs/partition_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/byte_stream.hpp"
#include "polyad/io/bytes/output_file.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/text/line_writer.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {

namespace {

// Of parts, before it is known how many lines a file has.
constexpr Index most_reserved = Index(1) << 24;

// take(number, part) for every line; returns how many there are.
template <class Fn>
Index for_each_line(const std::filesystem::path& path, int num_parts, const std::string& why_no_more,
                    Fn take) {
  const InputFile file(path);
  LineReader lines(file);
  Index number = 0;
  for (std::string_view line; lines.next(line); ++number) {
    const auto words = split_blanks(line);
    const auto part = words.size() == 1 ? parse_index(words[0]) : std::nullopt;
    if (!part || *part < 0 || *part >= num_parts) {
      const bool is_one_of_more = part && *part >= num_parts && !why_no_more.empty();
      throw Error(Errc::bad_input,
                  fmt::format("{} is not a part; expected a number from 0 to {}{}", in_quotes(line),
                              num_parts - 1, is_one_of_more ? ": " + why_no_more : ""),
                  {path.string(), number + 1});
    }
    take(number, int(*part));
  }
  return number;
}

}  // namespace

std::vector<int> read_partition(const std::filesystem::path& path, const PartitionLines& wanted) {
  std::vector<int> parts;
  parts.reserve(std::size_t(std::min(wanted.count, most_reserved)));
  const Index found = for_each_line(path, wanted.num_parts, wanted.why_no_more, [&](Index number, int part) {
    if (number >= wanted.first && number < wanted.first + wanted.count) parts.push_back(part);
  });
  if (found > wanted.total || (found < wanted.total && !wanted.may_end_early))
    throw Error(Errc::bad_input,
                fmt::format("has {} lines; expected {}{}, one for each {}", found,
                            wanted.may_end_early ? "at most " : "", wanted.total, wanted.thing),
                {path.string(), 0});
  return parts;
}

std::vector<int> read_partition(const std::filesystem::path& path, int num_parts,
                                const std::string& why_no_more) {
  std::vector<int> parts;
  for_each_line(path, num_parts, why_no_more, [&](Index, int part) { parts.push_back(part); });
  return parts;
}

void write_partition(const std::filesystem::path& path, std::span<const int> parts, Existing existing) {
  OutputFile file(path, OutputFile::Compression::none, existing);
  write_lines([&](std::string_view text) { file.write(text); }, std::ssize(parts),
              [&](std::string& out, Index i) {
                append_number(out, Index(parts[std::size_t(i)]));
                out += '\n';
              });
  file.commit();
}

}  // namespace polyad::io
