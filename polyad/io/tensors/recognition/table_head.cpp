#include "polyad/io/tensors/recognition/table_head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "polyad/base/error.hpp"
#include "polyad/io/text/number_text.hpp"
#include "polyad/io/text/table_sample.hpp"

namespace polyad::io {
namespace {

using Fields = std::vector<std::string>;

bool is_column_number(const std::string& name) {
  return parse_index(name.starts_with('#') ? name.substr(1) : name).has_value();
}

// Whether the options call a column by a name, which a header must have.
bool names_columns(const std::optional<CsvColumns>& columns) {
  if (!columns) return false;
  const auto is_name = [](const CsvColumn& column) { return !is_column_number(column.name); };
  return std::ranges::any_of(columns->modes, is_name) ||
         (!columns->value.empty() && !is_column_number(columns->value));
}

// Coordinates of a model name its modes in a header, or its labels in their lines.
FirstLine judge_by_model(const Fields& first, const IndexSpace& space) {
  int num_names = 0, num_labels = 0;
  for (int m = 0; m < space.order(); ++m) {
    num_names += int(std::ranges::count(first, space.name(m)));
    if (std::size_t(m) < first.size() && space.has_labels(m))
      num_labels += space.find(m, first[m]) != IndexSpace::no_index ? 1 : 0;
  }
  if (num_names > 0) return FirstLine::header;
  return num_labels > 0 ? FirstLine::data : FirstLine::unknown;
}

FirstLine judge(const TableSample& sample, const ReadOptions& options) {
  if (options.table.header) return *options.table.header ? FirstLine::header : FirstLine::data;
  if (!sample.has_first_line) return FirstLine::data;
  if (sample.rows.empty()) return FirstLine::header;
  const auto& first = sample.rows[0];
  const bool has_numbers_only =
      std::ranges::all_of(first, [](const auto& field) { return parse_real(field).has_value(); });
  if (names_columns(options.columns) && !has_numbers_only) return FirstLine::header;
  if (options.space != nullptr)
    if (const auto judged = judge_by_model(first, *options.space); judged != FirstLine::unknown)
      return judged;
  return judge_first_line(sample);
}

void check_form(const InputFile& file, const TableForm& form, const std::string& separator) {
  const auto refuse = [&](const std::string& why) {
    throw Error(Errc::bad_option, why, {file.path().string(), 0});
  };
  if (form.separator.size() > 1 && form.separator != "::")
    refuse(fmt::format("{} '{}': expected one character, '::' or a blank", option_name("separator"),
                       form.separator));
  if (form.separator.find_first_of("\"\r\n") != std::string::npos)
    refuse(option_name("separator") + " cannot be a quote or a line break");
  if (form.fields < 0 || form.fields == 1)
    refuse(fmt::format("{} {}: expected a number from 2 on", option_name("fields"), form.fields));
  if (form.decimal_comma && separator == ",")
    refuse(fmt::format("{} requires a separator other than the comma, which separates the columns here",
                       option_name("decimal_comma")));
}

std::string first_fields(const Fields& fields) {
  constexpr std::size_t shown = 4, longest = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(fields.size(), shown); ++i)
    text += (i == 0 ? "" : ", ") + fields[i].substr(0, longest);
  return fields.size() > shown ? text + ", ..." : text;
}

bool has_numbers(const TableSample& sample, std::size_t column, std::size_t first_row) {
  const auto content = look_at_column(sample, column, first_row).content;
  return content != ColumnContent::names && content != ColumnContent::date;
}

bool has_only_names(const TableSample& sample, std::size_t first_row) {
  for (std::size_t c = 0; c < sample.num_columns(); ++c)
    if (has_numbers(sample, c, first_row)) return false;
  return sample.num_columns() > 0;
}

// 1,2,3 for the first three columns.
std::string numbers_to(std::size_t last) {
  std::string text;
  for (std::size_t c = 1; c <= last; ++c) text += (c == 1 ? "" : ",") + std::to_string(c);
  return text;
}

std::string range_text(const ColumnLook& look) {
  return fmt::format("whole numbers from {:.0f} to {:.0f}", look.minimum, look.maximum);
}

std::string seeming(const ColumnLook& look, std::size_t num_lines) {
  constexpr std::size_t enough_zeros = 20;
  switch (look.content) {
    case ColumnContent::seconds:
      return fmt::format("looks like seconds since 1970 ({})", range_text(look));
    case ColumnContent::milliseconds:
      return fmt::format("looks like milliseconds since 1970 ({})", range_text(look));
    case ColumnContent::ordered:
      return fmt::format("looks like a time or an id ({} that never decrease)", range_text(look));
    case ColumnContent::ids:
      return fmt::format("looks like ids ({}, most of them different)", range_text(look));
    case ColumnContent::constant:
      return look.maximum == 0 && num_lines >= enough_zeros ? "is 0 on every line that was looked at" : "";
    default:
      return "";
  }
}

}  // namespace

bool asks_for_table(const ReadOptions& options) {
  return options.columns || options.table != TableForm{};
}

bool looks_like_names(const InputFile& file, Index begin) {
  TableSample sample;
  for (const auto* const separator : {"\t", " "}) {
    sample = sample_table(file, begin, {.separator = separator});
    if (is_regular(sample, 2)) break;
  }
  if (!is_regular(sample, 2) || sample.rows.size() < 2) return false;
  for (std::size_t c = 0; c < sample.num_columns(); ++c)
    if (std::ranges::none_of(sample.rows, [&](auto& row) { return parse_real(row[c]).has_value(); }))
      return true;
  return false;
}

bool looks_like_lists(const InputFile& file, Index begin) {
  const auto sample = sample_table(file, begin, {.separator = " "});
  std::set<std::size_t> counts;
  for (const auto& row : sample.rows) {
    if (std::ranges::any_of(row, [](auto& field) { return !parse_index(field); })) return false;
    counts.insert(row.size());
  }
  return counts.size() >= 3;
}

std::string doubt_about_lines(const InputFile& file, Index begin) {
  const auto sample = sample_table(file, begin, {.separator = " "});
  if (sample.rows.size() < 2 || is_regular(sample, 1)) return "";
  const auto [fewest, most] = std::ranges::minmax(sample.rows, {}, &Fields::size);
  return fewest.size() < 2 ? ""
                           : fmt::format(
                                 "its lines have {} to {} columns, expected as many on each; {} {} reads "
                                 "those of {} and leaves out the others",
                                 fewest.size(), most.size(), option_name("fields"), most.size(), most.size());
}

FileHead table_head(const InputFile& file, Index begin, Index line, const ReadOptions& options) {
  const auto sample = sample_table(file, begin, options.table);
  check_form(file, options.table, sample.separator);
  FileHead head;
  head.format = options.format == TensorFormat::wide ? TensorFormat::wide : TensorFormat::csv;
  head.separator = sample.separator;
  const auto judged = judge(sample, options);
  head.has_header = judged != FirstLine::data;
  head.header_is_guess = judged == FirstLine::unknown;
  head.data_begin = begin;
  head.data_line = line;
  if (!sample.has_first_line) {
    if (head.has_header)
      throw Error(Errc::bad_input,
                  fmt::format("expected the names of {} columns, as {} says, on the first line",
                              options.table.fields, option_name("fields")),
                  {file.path().string(), line});
    for (Index c = 1; c <= options.table.fields; ++c) head.column_names.push_back(std::to_string(c));
    head.only_names = sample.rows.empty() || has_only_names(sample, 0);
    return head;
  }
  if (sample.rows.empty() || sample.rows[0].empty())
    throw Error(Errc::bad_input, "a quoted column name is not closed on its line",
                {file.path().string(), line});
  const auto& first = sample.rows[0];
  if (head.has_header) {
    head.column_names = first;
    head.data_begin = begin + Index(sample.header_bytes);
    head.data_line = line + sample.header_lines;
  } else {
    for (std::size_t c = 1; c <= first.size(); ++c) head.column_names.push_back(std::to_string(c));
    head.only_names = has_only_names(sample, 0);
  }
  if (options.table.header || options.space != nullptr) return head;
  if (!head.has_header && head.only_names)
    head.notes.push_back(fmt::format(
        "its first line ({}) was read as data, since it looks like the other lines; {} takes it for the "
        "names of the columns",
        first_fields(first), option_name("header=true")));
  if (head.header_is_guess && !names_columns(options.columns))
    head.notes.push_back(fmt::format(
        "its first line ({}) was taken for the names of the columns, though it may be data; {} reads it as "
        "data, {} confirms that it is not",
        first_fields(first), option_name("header=false"), option_name("header=true")));
  return head;
}

std::string doubt_about_value(const InputFile& file, Index begin) {
  const auto sample = sample_table(file, begin, {.separator = " "});
  const auto last = sample.num_columns();
  if (last < 3) return "";
  const auto look = look_at_column(sample, last - 1, 0);
  const auto what = seeming(look, sample.rows.size());
  if (what.empty()) return "";
  const bool is_time = look.content == ColumnContent::seconds || look.content == ColumnContent::milliseconds;
  const auto modes = look.content == ColumnContent::constant ? numbers_to(last - 1)
                                                             : numbers_to(last) + (is_time ? ":day" : "");
  return fmt::format(
      "its last column {} but was read as the value; {} {} with {} 1 {}", what, option_name("columns"), modes,
      option_name("value"),
      look.content == ColumnContent::constant ? "reads every line as 1" : "reads it as a mode");
}

}  // namespace polyad::io
