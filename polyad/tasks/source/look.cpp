#include "polyad/tasks/look.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "polyad/base/error.hpp"
#include "polyad/base/printable.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/find_labels.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/look/reading_commands.hpp"
#include "polyad/tasks/detail/look/seen_file.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"

namespace polyad {
namespace {

using io::ColumnContent;
using tasks::ReadingSuggestion;
using tasks::SeenFile;

constexpr Index max_shown_lines = 500;

std::string name_of_dates(io::DateSign sign) {
  switch (sign) {
    case io::DateSign::none:
      return "dates";
    case io::DateSign::either:
      return "dates, day or month first";
    case io::DateSign::month_first:
      return "dates, month first";
    case io::DateSign::day_first:
      return "dates, day first";
  }
  return "";
}

std::string content_name(const io::ColumnLook& look) {
  switch (look.content) {
    case ColumnContent::names:
      return "names";
    case ColumnContent::date:
      return name_of_dates(look.dates);
    case ColumnContent::seconds:
      return "seconds since 1970";
    case ColumnContent::milliseconds:
      return "milliseconds since 1970";
    case ColumnContent::ordered:
      return "ids or times, never decreasing";
    case ColumnContent::ids:
      return "ids, most of them different";
    case ColumnContent::numbers:
      return "numbers";
    case ColumnContent::constant:
      return "the same number on every line";
  }
  return "";
}

std::vector<std::string> examples(const SeenFile& seen, std::size_t column) {
  constexpr std::size_t most = 3;
  std::vector<std::string> found;
  for (std::size_t r = seen.first_row; r < seen.sample.rows.size() && found.size() < most; ++r)
    if (std::ranges::find(found, seen.sample.rows[r][column]) == found.end())
      found.push_back(seen.sample.rows[r][column]);
  return found;
}

std::string separator_name(const std::string& separator) {
  if (separator == "\t") return "tabs";
  return separator == " " ? "blanks" : "'" + separator + "'";
}

std::string array_text(const io::StoredArray& array) {
  return fmt::format("{}{}{} of {}", array.name, array.name.empty() ? "" : ": ",
                     array.shape.empty() ? "one number" : report::dims_text(array.shape), array.type);
}

// "3x4x2" or "3x4x2 with 5 nonzeros", of a head that states it.
std::string stated_shape(const io::FileHead& head) {
  if (head.dims.empty()) return head.nonzeros ? report::counted(*head.nonzeros, "nonzero") : "";
  return report::dims_text(head.dims) +
         (head.nonzeros ? " with " + report::counted(*head.nonzeros, "nonzero") : "");
}

std::string columns_text(const SeenFile& seen) {
  auto text =
      fmt::format(", {} columns separated by {}", seen.looks.size(), separator_name(seen.sample.separator));
  if (seen.head && seen.head->format == io::TensorFormat::csv && seen.format == "csv")
    text += seen.head->has_header ? ", with a header" : ", without a header";
  if (seen.needs_multiline) text += ", quoted fields with line breaks";
  if (seen.needs_decimal_comma) text += ", decimal commas";
  if (seen.needs_fields)
    text += fmt::format("; lines have {} to {} columns, and those of {} are shown", seen.fewest_fields,
                        seen.most_fields, seen.looks.size());
  return text;
}

std::string first_sentence(const std::string& path, const SeenFile& seen) {
  if (seen.is_adjacency) return path + ": lines of different lengths, perhaps a row and its columns";
  if (!seen.head) return path + ": " + seen.fault;
  std::string text = fmt::format("{}: {}", path, seen.format);
  for (const auto& array : seen.arrays)
    text += (&array == seen.arrays.data() ? ", " : "\n  ") + array_text(array);
  if (!seen.fault.empty()) text += ": " + seen.fault;
  if (const auto shape = stated_shape(*seen.head); seen.arrays.empty() && !shape.empty())
    text += ", " + shape;
  if (!seen.looks.empty()) return text + columns_text(seen);
  if (seen.most_fields > 0)
    text += fmt::format(
        ", but its lines have {} to {} columns separated by {}, where a table has as many on each",
        seen.fewest_fields, seen.most_fields, separator_name(seen.sample.separator));
  return text;
}

std::string column_table(const std::vector<SeenColumn>& columns) {
  std::size_t width = 6;
  for (const auto& column : columns) width = std::max(width, std::min<std::size_t>(column.name.size(), 30));
  std::string text = fmt::format("\n\n{:<{}}  {:<30}  different  examples", "column", width, "seems to be");
  for (const auto& column : columns)
    text += fmt::format("\n{:<{}}  {:<30}  {:>9}  {}", column.name.substr(0, 30), width, column.content,
                        column.num_distinct, fmt::join(column.examples, ", "));
  return text;
}

nlohmann::ordered_json look_json(const SeenFile& seen, const std::vector<SeenColumn>& columns,
                                 const ReadingSuggestion& suggestion,
                                 const std::vector<std::string>& commands) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& column : columns)
    list.push_back({{"name", column.name},
                    {"content", column.content},
                    {"distinct", column.num_distinct},
                    {"examples", column.examples}});
  nlohmann::ordered_json json;
  json["format"] = seen.format;
  json["fault"] = seen.fault;
  json["header"] = seen.first_row == 1;
  json["separator"] = seen.looks.empty() ? "" : seen.sample.separator;
  json["columns"] = std::move(list);
  auto arrays = nlohmann::ordered_json::array();
  for (const auto& array : seen.arrays)
    arrays.push_back({{"name", array.name}, {"shape", array.shape}, {"type", array.type}});
  json["arrays"] = std::move(arrays);
  json["suggested_columns"] = suggestion.columns;
  json["suggested_value"] = suggestion.value;
  json["commands"] = commands;
  json["notes"] = seen.head ? seen.head->notes : std::vector<std::string>();
  return json;
}

std::string look_text(const tasks::SourceFiles& source, const SeenFile& seen,
                      const std::vector<SeenColumn>& columns, const std::vector<std::string>& commands,
                      Index num_lines) {
  constexpr std::size_t longest = 100;
  std::string text = first_sentence(source.files[0].string(), seen);
  for (Index i = 0; i < std::min(num_lines, Index(seen.sample.lines.size())); ++i) {
    const auto& line = seen.sample.lines[std::size_t(i)];
    text += "\n  " + line.substr(0, longest) + (line.size() > longest ? "..." : "");
  }
  if (!columns.empty()) text += column_table(columns);
  if (seen.head)
    for (const auto& note : seen.head->notes) text += "\n\n" + note;
  if (commands.empty()) return text;
  text += "\n\nIt could be read by";
  for (const auto& command : commands) text += "\n  " + command;
  return text;
}

}  // namespace

void validate(const LookOptions& options) {
  if (options.num_lines < 0 || options.num_lines > max_shown_lines)
    throw Error(Errc::bad_option, fmt::format("{} {}: expected a number from 0 to {}",
                                              option_name("num_lines"), options.num_lines, max_shown_lines));
}

FileLook look(const Context& context, const TensorFiles& files, const LookOptions& options) {
  const tasks::TaskScope scope(context);
  tasks::require_one_process(context, "look");
  validate(options);
  const auto source = tasks::source_files(files);
  auto seen = tasks::see_file(source.files[0], tasks::read_options(options.load));
  seen.fault = context.shown(seen.fault);
  if (seen.head)
    for (auto& note : seen.head->notes) note = context.shown(note);
  std::vector<SeenColumn> columns;
  for (std::size_t c = 0; c < seen.looks.size(); ++c)
    columns.push_back(
        {seen.names[c], content_name(seen.looks[c]), Index(seen.looks[c].num_distinct), examples(seen, c)});
  const auto suggestion = tasks::suggest_reading(seen);
  auto commands = tasks::reading_commands(source, seen, suggestion);
  for (auto& command : commands) command = context.shown(command);
  auto text = context.shown(look_text(source, seen, columns, commands, options.num_lines));
  auto json = tasks::json_text(look_json(seen, columns, suggestion, commands));
  return {{std::move(text), std::move(json)}, std::move(columns), suggestion.columns, suggestion.value};
}

}  // namespace polyad
