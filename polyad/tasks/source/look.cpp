#include "polyad/tasks/look.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "polyad/base/error.hpp"
#include "polyad/base/printable.hpp"
#include "polyad/io/bytes/standard_input.hpp"
#include "polyad/io/tensors/array_tensor.hpp"
#include "polyad/io/tensors/recognise.hpp"
#include "polyad/io/text/number_text.hpp"
#include "polyad/io/text/table_sample.hpp"
#include "polyad/report/plan_report.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/find_labels.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"

namespace polyad {
namespace {

using io::ColumnContent;

constexpr Index max_shown_lines = 500;

std::string content_name(ColumnContent content) {
  switch (content) {
    case ColumnContent::names:
      return "names";
    case ColumnContent::date:
      return "dates";
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

// What is known of a file: its head, or why there is none, and its lines of columns.
struct Seen {
  std::optional<io::FileHead> head;
  std::string fault;
  io::TableSample sample;
  std::size_t first_row = 0;
  bool is_adjacency = false;  // lines of different lengths, each a row and its columns
  std::vector<io::ColumnLook> looks;
  std::vector<std::string> names;
  std::vector<io::StoredArray> arrays;  // of a file of arrays
};

bool is_lines_of_columns(io::TensorFormat format) {
  using enum io::TensorFormat;
  constexpr std::array formats{tns, csv, movielens_tabs, movielens_colons, libmf};
  return std::ranges::find(formats, format) != formats.end();
}

bool looks_like_adjacency(const io::TableSample& sample) {
  const auto are_indices = [](const std::vector<std::string>& row) {
    return std::ranges::all_of(row, [](const auto& field) { return io::parse_index(field).has_value(); });
  };
  return sample.rows.size() > 1 && !io::is_regular(sample, 1) &&
         std::ranges::all_of(sample.rows, are_indices);
}

// An array that is no tensor, or a damaged one, is what load would refuse it for.
void see_arrays(const io::InputFile& file, Seen& seen) {
  try {
    seen.arrays = io::list_arrays(file, seen.head->format);
  } catch (const Error& e) {
    if (e.code() != Errc::bad_input) throw;
    seen.fault = e.message();
  }
}

Seen see(const std::filesystem::path& path, const io::ReadOptions& read) {
  Seen seen;
  const io::InputFile file = io::open_input(path);
  try {
    seen.head = io::recognise(file, read);
  } catch (const Error& e) {
    if (e.code() != Errc::bad_input && e.code() != Errc::bad_option) throw;
    seen.fault = e.message();
  }
  if (seen.head && io::is_binary(seen.head->format)) {
    see_arrays(file, seen);
    return seen;
  }
  const bool is_table = !seen.head || is_lines_of_columns(seen.head->format);
  auto form = read.table;
  if (seen.head && seen.head->format == io::TensorFormat::tns) form.separator = " ";
  // Lines before the data are comments and headers of formats; the header of a table is a line of its own.
  const bool has_header = seen.head && seen.head->format == io::TensorFormat::csv && seen.head->has_header;
  const Index begin = seen.head && !has_header ? seen.head->data_begin : 0;
  seen.sample = io::sample_table(file, is_table ? begin : 0, form);
  seen.is_adjacency = is_table && looks_like_adjacency(seen.sample);
  if (!is_table || !io::is_regular(seen.sample, 2)) return seen;
  seen.first_row = has_header ? 1 : 0;
  for (std::size_t c = 0; c < seen.sample.num_columns(); ++c) {
    seen.looks.push_back(io::look_at_column(seen.sample, c, seen.first_row));
    seen.names.push_back(has_header && !seen.head->column_names[c].empty() ? seen.head->column_names[c]
                                                                           : std::to_string(c + 1));
  }
  return seen;
}

std::vector<std::string> examples(const Seen& seen, std::size_t column) {
  constexpr std::size_t most = 3;
  std::vector<std::string> found;
  for (std::size_t r = seen.first_row; r < seen.sample.rows.size() && found.size() < most; ++r)
    if (std::ranges::find(found, seen.sample.rows[r][column]) == found.end())
      found.push_back(seen.sample.rows[r][column]);
  return found;
}

bool is_called_value(const std::string& name) {
  constexpr std::array names{"value", "rating", "count", "cnt",    "weight",
                             "n",     "plays",  "score", "amount", "quantity"};
  return std::ranges::find(names, name) != names.end();
}

bool is_called_time(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return name.find("time") != std::string::npos || name.find("date") != std::string::npos;
}

// The column of the value: one that is called so, else the last if it has numbers that look like values.
std::optional<std::size_t> value_column(const Seen& seen) {
  const auto has_numbers = [&](std::size_t c) {
    if (is_called_time(seen.names[c])) return false;
    return seen.looks[c].content == ColumnContent::numbers ||
           seen.looks[c].content == ColumnContent::constant;
  };
  for (std::size_t c = 0; c < seen.names.size(); ++c)
    if (has_numbers(c) && is_called_value(seen.names[c])) return c;
  const auto last = seen.names.size() - 1;
  if (seen.looks[last].content != ColumnContent::constant && has_numbers(last) && last > 1) return last;
  // u.data and ratings.dat: user, item, rating, time.
  const bool ends_with_time = seen.looks[last].content == ColumnContent::seconds;
  if (ends_with_time && last == 3 && has_numbers(2) && seen.looks[2].maximum <= 10) return 2;
  return std::nullopt;
}

struct Suggestion {
  std::string columns, value;
};

Suggestion suggest(const Seen& seen) {
  Suggestion suggestion;
  const auto value = value_column(seen);
  for (std::size_t c = 0; c < seen.names.size(); ++c) {
    const auto content = seen.looks[c].content;
    const bool is_row_number = seen.first_row == 1 && seen.head->column_names[c].empty();
    if (c == value || is_row_number || content == ColumnContent::constant) continue;
    const bool is_time = content == ColumnContent::date || content == ColumnContent::seconds ||
                         content == ColumnContent::milliseconds;
    suggestion.columns += (suggestion.columns.empty() ? "" : ",") + seen.names[c] + (is_time ? ":day" : "");
  }
  suggestion.value = value ? seen.names[*value] : "1";
  return suggestion;
}

// Whether the file is read without any options, to what the columns seem to be.
bool needs_no_options(const Seen& seen) {
  if (!seen.head) return false;
  if (seen.looks.empty() || seen.head->format != io::TensorFormat::csv) return seen.head->notes.empty();
  return !seen.head->has_header && seen.head->only_names;
}

std::vector<std::string> commands(const tasks::SourceFiles& source, const Seen& seen,
                                  const Suggestion& suggestion) {
  std::string options;
  if (!suggestion.columns.empty())
    options = fmt::format(" {} {} {} {}", option_name("columns"), report::for_shell(suggestion.columns),
                          option_name("value"), report::for_shell(suggestion.value));
  if (seen.is_adjacency) options += " " + option_name("LoadOptions::format") + " adjacency";
  if (seen.head && seen.head->header_is_guess) options += " " + option_name("header=false");
  std::string file;
  for (const auto& path : source.given) file += (file.empty() ? "" : " ") + report::for_shell(path.string());
  file += options;
  return {"polyad stats " + file, "polyad cpd " + file + " " + option_name("rank") + " 8"};
}

std::string separator_name(const std::string& separator) {
  if (separator == "\t") return "tabs";
  return separator == " " ? "blanks" : "'" + separator + "'";
}

std::string array_text(const io::StoredArray& array) {
  return fmt::format("{}{}{} of {}", array.name, array.name.empty() ? "" : ": ",
                     array.shape.empty() ? "one number" : report::dims_text(array.shape), array.type);
}

std::string first_sentence(const std::string& path, const Seen& seen) {
  if (seen.is_adjacency) return path + ": lines of different lengths, perhaps a row and its columns";
  if (!seen.head) return path + ": " + seen.fault;
  std::string text = fmt::format("{}: {}", path, io::traits(seen.head->format).name);
  for (const auto& array : seen.arrays)
    text += (&array == seen.arrays.data() ? ", " : "\n  ") + array_text(array);
  if (!seen.fault.empty()) text += ": " + seen.fault;
  if (seen.looks.empty()) return text;
  text +=
      fmt::format(", {} columns separated by {}", seen.looks.size(), separator_name(seen.sample.separator));
  if (seen.head->format == io::TensorFormat::csv)
    text += seen.head->has_header ? ", with a header" : ", without a header";
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

nlohmann::ordered_json look_json(const Seen& seen, const std::vector<SeenColumn>& columns,
                                 const Suggestion& suggestion) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& column : columns)
    list.push_back({{"name", column.name},
                    {"content", column.content},
                    {"distinct", column.num_distinct},
                    {"examples", column.examples}});
  nlohmann::ordered_json json;
  json["format"] = seen.head ? io::traits(seen.head->format).name : "";
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
  json["notes"] = seen.head ? seen.head->notes : std::vector<std::string>();
  return json;
}

std::string look_text(const tasks::SourceFiles& source, const Seen& seen,
                      const std::vector<SeenColumn>& columns, const Suggestion& suggestion, Index num_lines) {
  constexpr std::size_t longest = 100;
  std::string text = first_sentence(source.files[0].string(), seen);
  for (Index i = 0; i < std::min(num_lines, Index(seen.sample.lines.size())); ++i) {
    const auto& line = seen.sample.lines[std::size_t(i)];
    text += "\n  " + line.substr(0, longest) + (line.size() > longest ? "..." : "");
  }
  if (!columns.empty()) text += column_table(columns);
  if (seen.head)
    for (const auto& note : seen.head->notes) text += "\n\n" + note;
  if (columns.empty() && !seen.is_adjacency && (!seen.head || !seen.fault.empty())) return text;
  text += "\n\nIt could be read by";
  for (const auto& command : commands(source, seen, suggestion)) text += "\n  " + command;
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
  auto seen = see(source.files[0], tasks::read_options(options.load));
  seen.fault = context.shown(seen.fault);
  if (seen.head)
    for (auto& note : seen.head->notes) note = context.shown(note);
  std::vector<SeenColumn> columns;
  for (std::size_t c = 0; c < seen.looks.size(); ++c)
    columns.push_back({seen.names[c], content_name(seen.looks[c].content), Index(seen.looks[c].num_distinct),
                       examples(seen, c)});
  const auto suggestion = columns.empty() || needs_no_options(seen) ? Suggestion() : suggest(seen);
  auto text = context.shown(look_text(source, seen, columns, suggestion, options.num_lines));
  auto json = tasks::json_text(look_json(seen, columns, suggestion));
  return {{std::move(text), std::move(json)}, std::move(columns), suggestion.columns, suggestion.value};
}

}  // namespace polyad
