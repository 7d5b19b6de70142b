#include "polyad/io/models/value_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/zip_archive.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/text/field_splitter.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

constexpr Index max_value_record_bytes = 1 << 12;

// The one of these that is called so.
template <class Rule>
bool take_rule(std::string_view name, std::span<const Rule> all, Rule& rule) {
  const auto found = std::ranges::find(all, name, [](Rule r) { return to_string(r); });
  if (found == all.end()) return false;
  rule = *found;
  return true;
}

bool take_counts(std::span<const std::string_view> words, std::vector<Index>& counts) {
  counts.clear();
  for (const auto word : words) {
    const auto count = parse_index(word);
    if (!count || *count < 0 || std::ssize(counts) == max_order) return false;
    counts.push_back(*count);
  }
  return true;
}

}  // namespace

std::string value_record(const ValuePreparation& prepared, const ValuePreparation& usual) {
  std::string lines;
  if (prepared.duplicates != usual.duplicates)
    lines += fmt::format("duplicates {}\n", to_string(prepared.duplicates));
  if (prepared.transform != usual.transform)
    lines += fmt::format("transform {}\n", to_string(prepared.transform));
  if (prepared.min_count != usual.min_count)
    lines += fmt::format("min-count {}\n", fmt::join(prepared.min_count, " "));
  return lines;
}

bool take_value_record(std::string_view line, ValuePreparation& prepared) {
  const auto words = split_blanks(line);
  if (words.size() < 2) return false;
  if (words[0] == "duplicates" && words.size() == 2)
    return take_rule(words[1], all_duplicate_rules(), prepared.duplicates);
  if (words[0] == "transform" && words.size() == 2)
    return take_rule(words[1], all_transforms(), prepared.transform);
  return words[0] == "min-count" && take_counts(std::span(words).subspan(1), prepared.min_count);
}

void take_value_records(const std::string& file, std::string_view lines, ValuePreparation& prepared) {
  while (!lines.empty()) {
    const auto line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    if (!split_blanks(line).empty() && !take_value_record(line, prepared))
      throw Error(Errc::bad_input,
                  fmt::format("{} in {}: expected a line such as 'duplicates mean', 'transform log1p' or "
                              "'min-count 5'",
                              in_quotes(line), value_record_name),
                  {file, 0});
  }
}

void take_archived_record(const InputFile& archive, ValuePreparation& prepared) {
  const auto members = read_zip_directory(archive);
  const auto found = std::ranges::find(members, value_record_name, &ZipMember::name);
  if (found == members.end()) return;
  if (found->bytes > max_value_record_bytes)
    throw Error(Errc::bad_input,
                fmt::format("{} has {} bytes, expected some lines", value_record_name, found->bytes),
                {archive.path().string(), 0});
  std::string lines(std::size_t(found->bytes), '\0');
  ZipMemberReader reader(archive, *found);
  reader.read(lines);
  reader.finish();
  take_value_records(archive.path().string(), lines, prepared);
}

}  // namespace polyad::io
