#include "polyad/io/text/table_sample.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <tuple>

#include "polyad/io/bytes/byte_stream.hpp"
#include "polyad/io/text/field_splitter.hpp"
#include "polyad/io/text/number_text.hpp"
#include "polyad/io/text/time_text.hpp"

namespace polyad::io {
namespace {

using Row = std::vector<std::string>;
using Rows = std::vector<Row>;

constexpr std::size_t max_sample_lines = 500, max_sample_bytes = std::size_t(1) << 18;
constexpr Index tail_bytes = 1 << 14;

bool has_open_quote(std::string_view line) {
  return std::ranges::count(line, '"') % 2 != 0;
}

void take_first_lines(const InputFile& file, Index begin, bool multiline, TableSample& sample) {
  auto& lines = sample.lines;
  LineReader reader(file);
  std::size_t bytes = 0;
  bool joins = false;
  for (std::string_view line; bytes < max_sample_bytes && lines.size() < max_sample_lines;) {
    if (!reader.next(line)) break;
    if (reader.line_begin() < begin || (!joins && split_blanks(line).empty())) continue;
    bytes += line.size() + 1;
    if (joins)
      lines.back().append(" ").append(line);
    else
      lines.emplace_back(line);
    joins = multiline && has_open_quote(lines.back());
    if (lines.size() > 1) continue;
    sample.header_bytes = reader.next_begin() - begin;
    ++sample.header_lines;
  }
}

// Without the line that the beginning of the range cuts.
std::vector<std::string> last_lines(const InputFile& file, Index begin) {
  if (file.is_gzip() || file.size() - begin < Index(max_sample_bytes) + tail_bytes) return {};
  std::string text(std::size_t(tail_bytes), '\0');
  text.resize(std::size_t(file.read_some(file.size() - tail_bytes, text)));
  std::vector<std::string> lines;
  for (auto at = text.find('\n'); at != std::string::npos && at + 1 < text.size();) {
    const auto end = std::min(text.find('\n', at + 1), text.size());
    lines.push_back(text.substr(at + 1, end - at - 1));
    at = end;
  }
  return lines;
}

Rows split_all(const std::vector<std::string>& lines, const std::string& separator) {
  FieldSplitter splitter(separator);
  Rows rows;
  for (const auto& line : lines) {
    rows.emplace_back();
    if (splitter.split(line)) rows.back().assign(splitter.fields().begin(), splitter.fields().end());
  }
  return rows;
}

bool all_have(const Rows& rows, std::size_t num_fields) {
  return std::ranges::all_of(rows, [&](const Row& row) { return row.size() == num_fields; });
}

// The separator that cuts all lines into the same number of fields, the largest; else the commonest of the
// first line, so that a line with a fault does not hide it.
std::string recognise_separator(const std::vector<std::string>& lines) {
  std::string best;
  std::size_t most = 1;
  for (const auto* const candidate : {"\t", "::", ";", "|", ",", " "}) {
    const auto rows = split_all(lines, candidate);
    const bool is_better = !rows.empty() && rows[0].size() > most && all_have(rows, rows[0].size());
    if (!is_better || (*candidate == ' ' && !best.empty())) continue;  // names may contain blanks
    best = candidate;
    most = rows[0].size();
  }
  if (!best.empty() || lines.empty()) return best.empty() ? "," : best;
  const auto count = [&](char c) { return std::ranges::count(lines[0], c); };
  if (lines[0].find("::") != std::string::npos) return "::";
  if (count('|') > std::max(count(','), count(';'))) return "|";
  if (count(';') > count(',')) return ";";
  if (count('\t') > count(',')) return "\t";
  return count(',') == 0 && count(' ') > 0 ? " " : ",";
}

// The separator that cuts the most lines into so many fields.
std::string separator_for(const std::vector<std::string>& lines, std::size_t num_fields) {
  std::string best = "\t";
  std::ptrdiff_t most = 0;
  for (const auto* const candidate : {"\t", "::", ";", "|", ",", " "}) {
    const auto count = std::ranges::count(split_all(lines, candidate), num_fields, &Row::size);
    if (count <= most) continue;
    best = candidate;
    most = count;
  }
  return best;
}

void keep_lines_of(TableSample& sample, std::size_t num_fields) {
  const auto is_other = [&](const Row& row) { return row.size() != num_fields; };
  sample.has_first_line = !sample.rows.empty() && !is_other(sample.rows[0]);
  std::size_t kept = 0;
  for (std::size_t r = 0; r < sample.rows.size(); ++r)
    if (!is_other(sample.rows[r])) std::swap(sample.lines[kept++], sample.lines[r]);
  sample.lines.resize(kept);
  std::erase_if(sample.rows, is_other);
  std::erase_if(sample.last_rows, is_other);
}

// A number such as 3,5 as 3.5; other fields as they are.
std::string with_decimal_point(const std::string& field) {
  std::string number = field;
  std::ranges::replace(number, ',', '.');
  return parse_real(number) ? number : field;
}

bool is_number(const std::string& field) {
  return parse_real(field).has_value();
}

bool is_date(const std::string& field) {
  return !is_number(field) &&
         (time_bin(field, ColumnKind::day, DateOrder::month_first) || date_sign(field) != DateSign::none);
}

// 'Ab-12' becomes 'Aa-9': the kinds of its characters, each run once.
std::string pattern_of(std::string_view field) {
  std::string pattern;
  for (const char c : field) {
    const char kind = is_digit(c) ? '9' : (c >= 'a' && c <= 'z') ? 'a' : (c >= 'A' && c <= 'Z') ? 'A' : c;
    if (pattern.empty() || pattern.back() != kind) pattern += kind;
  }
  return pattern;
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  return std::size_t(std::ranges::mismatch(a, b).in1 - a.begin());
}

// How one column votes on its first field, the others being names.
FirstLine judge_names(const Row& column) {
  const auto& first = column[0];
  const std::span rest(column.begin() + 1, column.end());
  if (std::ranges::find(rest, first) != rest.end()) return FirstLine::data;
  const auto pattern = pattern_of(rest[0]);
  const bool is_uniform =
      rest.size() > 1 && std::ranges::all_of(rest, [&](auto& field) { return pattern_of(field) == pattern; });
  if (is_uniform && pattern_of(first) != pattern) return FirstLine::header;
  const bool is_telling = pattern.find_first_not_of("aA ") != std::string::npos;
  if (is_uniform && is_telling) return FirstLine::data;
  std::size_t shared = rest[0].size();
  for (const auto& field : rest) shared = std::min(shared, common_prefix(rest[0], field));
  constexpr std::size_t telling_prefix = 3;
  if (rest.size() < 3 || shared < telling_prefix) return FirstLine::unknown;
  return first.starts_with(rest[0].substr(0, shared)) ? FirstLine::data : FirstLine::header;
}

FirstLine judge_column(const Row& column) {
  const auto& first = column[0];
  const std::span rest(column.begin() + 1, column.end());
  if (std::ranges::all_of(rest, is_number)) return is_number(first) ? FirstLine::data : FirstLine::header;
  if (std::ranges::all_of(rest, is_date)) return is_date(first) ? FirstLine::data : FirstLine::header;
  if (first.empty()) return FirstLine::header;
  return is_number(first) ? FirstLine::data : judge_names(column);
}

bool is_missing(const std::string& field) {
  return field.empty() || field == "NA";
}

Row column_of(const Rows& rows, std::size_t column, std::size_t first_row) {
  Row fields;
  for (std::size_t r = first_row; r < rows.size(); ++r)
    if (column < rows[r].size() && (r == 0 || !is_missing(rows[r][column])))
      fields.push_back(rows[r][column]);
  return fields;
}

// Whether a name of the first line stands in any column of another: entities do, column names do not.
bool recurs(const TableSample& sample) {
  std::set<std::string_view> below;
  for (std::size_t r = 1; r < sample.rows.size(); ++r)
    below.insert(sample.rows[r].begin(), sample.rows[r].end());
  return std::ranges::any_of(sample.rows[0],
                             [&](auto& field) { return !is_number(field) && below.contains(field); });
}

constexpr double year_1973 = 1e8, year_2103 = 4.2e9;  // in seconds since 1970
constexpr double milliseconds_per_second = 1000;
constexpr std::size_t telling_lines = 20;  // fewer show no order and no ids

ColumnContent content_of(const std::vector<double>& numbers, const ColumnLook& look) {
  const bool are_whole = std::ranges::all_of(numbers, [](double v) { return v == std::floor(v); });
  if (look.num_distinct == 1) return ColumnContent::constant;
  if (!are_whole || look.minimum < 0) return ColumnContent::numbers;
  if (look.minimum >= year_1973 && look.maximum <= year_2103) return ColumnContent::seconds;
  if (look.minimum >= year_1973 * milliseconds_per_second &&
      look.maximum <= year_2103 * milliseconds_per_second)
    return ColumnContent::milliseconds;
  if (numbers.size() < telling_lines) return ColumnContent::numbers;
  if (look.num_distinct > 2 && std::ranges::is_sorted(numbers)) return ColumnContent::ordered;
  const bool mostly_different = look.num_distinct * 2 > numbers.size();
  return mostly_different && look.maximum > double(numbers.size()) ? ColumnContent::ids
                                                                   : ColumnContent::numbers;
}

}  // namespace

TableSample sample_table(const InputFile& file, Index begin, const TableForm& form) {
  TableSample sample;
  take_first_lines(file, begin, form.multiline, sample);
  sample.separator = form.separator;
  if (sample.separator.empty())
    sample.separator = form.fields > 0 ? separator_for(sample.lines, std::size_t(form.fields))
                                       : recognise_separator(sample.lines);
  sample.rows = split_all(sample.lines, sample.separator);
  sample.last_rows = split_all(last_lines(file, begin), sample.separator);
  if (form.fields > 0) keep_lines_of(sample, std::size_t(form.fields));
  if (!form.decimal_comma) return sample;
  for (auto* const rows : {&sample.rows, &sample.last_rows})
    for (auto& row : *rows)
      for (auto& field : row) field = with_decimal_point(field);
  return sample;
}

bool is_regular(const TableSample& sample, std::size_t minimum) {
  return sample.num_columns() >= minimum && all_have(sample.rows, sample.num_columns());
}

FirstLine judge_first_line(const TableSample& sample) {
  if (sample.rows.size() < 2)
    return std::ranges::any_of(sample.rows.empty() ? Row() : sample.rows[0], is_number) ? FirstLine::data
                                                                                        : FirstLine::header;
  bool is_data = false, is_header = false, is_named = false;
  for (std::size_t c = 0; c < sample.num_columns(); ++c) {
    const auto column = column_of(sample.rows, c, 0);
    if (column.size() < 2) continue;
    const auto vote = judge_column(column);
    const std::span rest(column.begin() + 1, column.end());
    if (vote == FirstLine::header &&
        (std::ranges::all_of(rest, is_number) || std::ranges::all_of(rest, is_date)))
      return FirstLine::header;
    is_data |= vote == FirstLine::data;
    is_header |= vote == FirstLine::header;
    is_named |= !std::ranges::all_of(rest, is_number);
  }
  if (is_named && recurs(sample)) return FirstLine::data;
  if (is_data == is_header) return FirstLine::unknown;
  return is_data ? FirstLine::data : FirstLine::header;
}

ColumnLook look_at_column(const TableSample& sample, std::size_t column, std::size_t first_row) {
  auto fields = column_of(sample.rows, column, first_row);
  for (auto& field : column_of(sample.last_rows, column, 0)) fields.push_back(std::move(field));
  std::erase_if(fields, is_missing);
  ColumnLook look;
  look.has_empty = std::any_of(sample.rows.begin() + std::ptrdiff_t(std::min(first_row, sample.rows.size())),
                               sample.rows.end(),
                               [&](const Row& row) { return column < row.size() && row[column].empty(); });
  look.num_distinct = std::set(fields.begin(), fields.end()).size();
  if (fields.empty()) return look;
  if (std::ranges::all_of(fields, is_date)) {
    look.content = ColumnContent::date;
    for (const auto& field : fields) look.dates = std::max(look.dates, date_sign(field));
  }
  if (!std::ranges::all_of(fields, is_number)) return look;
  std::vector<double> numbers;
  for (const auto& field : fields) numbers.push_back(*parse_real(field));
  std::tie(look.minimum, look.maximum) = std::pair(std::ranges::min(numbers), std::ranges::max(numbers));
  look.content = content_of(numbers, look);
  return look;
}

}  // namespace polyad::io
