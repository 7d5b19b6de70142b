#include "polyad/tasks/detail/look/reading_commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>

#include "polyad/base/error.hpp"
#include "polyad/io/text/number_text.hpp"
#include "polyad/report/plan_report.hpp"

namespace polyad::tasks {
namespace {

using io::ColumnContent;

bool is_called_value(const std::string& name) {
  constexpr std::array names{"value", "rating", "count", "cnt",    "weight",
                             "n",     "plays",  "score", "amount", "quantity"};
  return std::ranges::find(names, name) != names.end();
}

bool is_called_rating(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  constexpr std::array names{"rating", "ratings", "stars", "score"};
  return std::ranges::find(names, name) != names.end();
}

bool is_called_time(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return name.find("time") != std::string::npos || name.find("date") != std::string::npos;
}

bool has_values(const SeenFile& seen, std::size_t column) {
  const auto content = seen.looks[column].content;
  return content == ColumnContent::numbers || content == ColumnContent::constant;
}

// The column of the value: one that is called so, else the last if it has numbers that look like values.
std::optional<std::size_t> value_column(const SeenFile& seen) {
  const auto may_be_value = [&](std::size_t c) {
    return !is_called_time(seen.names[c]) && has_values(seen, c) && !seen.looks[c].has_empty;
  };
  for (std::size_t c = 0; c < seen.names.size(); ++c)
    if (may_be_value(c) && is_called_value(seen.names[c])) return c;
  const auto last = seen.names.size() - 1;
  if (seen.looks[last].content != ColumnContent::constant && may_be_value(last) && last > 1) return last;
  // u.data and ratings.dat: user, item, rating, time.
  const bool ends_with_time = seen.looks[last].content == ColumnContent::seconds;
  if (ends_with_time && last == 3 && may_be_value(2) && seen.looks[2].maximum <= 10) return 2;
  return std::nullopt;
}

// The columns of a wide table that has a number for missing values: each of them has the same number as its
// smallest or largest, and it fills a good part of their cells.
struct WideColumns {
  std::size_t first = 0, last = 0;
  double missing = 0;
};

std::size_t count_cells(const SeenFile& seen, std::size_t column, double number) {
  std::size_t count = 0;
  for (std::size_t r = seen.first_row; r < seen.sample.rows.size(); ++r)
    count += io::parse_real(seen.sample.rows[r][column]) == number ? 1 : 0;
  return count;
}

std::optional<WideColumns> find_wide_columns(const SeenFile& seen) {
  constexpr std::size_t enough_columns = 4;
  if (seen.first_row > 0 || seen.looks.size() < enough_columns) return std::nullopt;
  std::map<double, std::vector<std::size_t>> columns_of;
  for (std::size_t c = 0; c < seen.looks.size(); ++c) {
    if (!has_values(seen, c)) return std::nullopt;
    const auto& look = seen.looks[c];
    for (const double number : {look.minimum, look.maximum})
      if (number != 0 && (columns_of[number].empty() || columns_of[number].back() != c))
        columns_of[number].push_back(c);
  }
  const auto most = std::ranges::max_element(columns_of, {}, [](auto& entry) { return entry.second.size(); });
  if (most == columns_of.end()) return std::nullopt;
  const auto& [number, columns] = *most;
  const bool are_together = columns.back() - columns.front() + 1 == columns.size();
  if (columns.size() < enough_columns || columns.size() + 1 < seen.looks.size() || !are_together)
    return std::nullopt;
  std::size_t missing = 0;
  for (const auto c : columns) missing += count_cells(seen, c, number);
  const auto cells = seen.sample.rows.size() * columns.size();
  constexpr std::size_t good_part = 8;
  if (missing * good_part < cells) return std::nullopt;
  return WideColumns{columns.front(), columns.back(), number};
}

// Whether the file is read without any options, to what the columns seem to be.
bool needs_no_options(const SeenFile& seen) {
  if (!seen.head) return false;
  if (seen.looks.empty() || seen.head->format != io::TensorFormat::csv) return seen.head->notes.empty();
  return !seen.head->has_header && seen.head->only_names;
}

// As options name it: by its number where the name would not be found, or taken for something else.
std::string name_for_option(const SeenFile& seen, std::size_t column) {
  const auto& name = seen.names[column];
  const bool is_plain = name.find_first_of(",:#") == std::string::npos;
  return is_plain && std::ranges::count(seen.names, name) == 1 ? name : fmt::format("#{}", column + 1);
}

// At most as many as a tensor can have.
std::vector<std::string> columns_of_modes(const SeenFile& seen, std::optional<std::size_t> value) {
  std::vector<std::string> columns;
  for (std::size_t c = 0; c < seen.names.size() && columns.size() < max_order; ++c) {
    const auto content = seen.looks[c].content;
    const bool is_row_number = seen.first_row == 1 && seen.head->column_names[c].empty();
    const bool is_no_mode = content == ColumnContent::constant || seen.looks[c].has_empty;
    if (c == value || is_row_number || is_no_mode) continue;
    const bool is_time = content == ColumnContent::date || content == ColumnContent::seconds ||
                         content == ColumnContent::milliseconds;
    columns.push_back(name_for_option(seen, c) + (is_time ? ":day" : ""));
  }
  return columns;
}

// An option with its argument, or alone if that is empty.
std::string option(const char* field, const std::string& argument = "") {
  return " " + option_name(field) + (argument.empty() ? "" : " " + report::for_shell(argument));
}

std::string options_for(const SeenFile& seen, const ReadingSuggestion& suggestion) {
  std::string options;
  if (suggestion.is_wide) options += option("LoadOptions::format", "wide");
  if (!suggestion.columns.empty()) options += option("columns", suggestion.columns);
  if (!suggestion.value.empty()) options += option("value", suggestion.value);
  if (!suggestion.missing.empty()) options += option("missing", suggestion.missing);
  if (seen.is_adjacency) options += option("LoadOptions::format", "adjacency");
  if (seen.head && seen.head->header_is_guess) options += option("header=true");
  if (seen.needs_multiline) options += option("multiline");
  if (seen.needs_decimal_comma) options += option("decimal_comma");
  if (seen.needs_fields) options += option("fields", std::to_string(seen.form.fields));
  return options;
}

// The command that learns from ratings of items by users, which most tables do not hold: nothing.
std::optional<std::string> completion_command(const std::string& files, const SeenFile& seen) {
  using io::TensorFormat;
  if (!seen.head) return std::nullopt;
  const auto format = seen.head->format;
  const std::string command = "polyad complete " + files, test = option("test", "0.1");
  if (format == TensorFormat::movielens_tabs || format == TensorFormat::movielens_colons)
    return command + test;
  const auto value = seen.looks.empty() ? std::nullopt : value_column(seen);
  if (format != TensorFormat::csv || !value || !is_called_rating(seen.names[*value])) return std::nullopt;
  auto suggestion = ReadingSuggestion{};
  const auto modes = columns_of_modes(seen, value);
  if (modes.size() < 2) return std::nullopt;
  suggestion.columns = modes[0] + "," + modes[1];
  suggestion.value = name_for_option(seen, *value);
  return command + options_for(seen, suggestion) + test;
}

}  // namespace

ReadingSuggestion suggest_reading(const SeenFile& seen) {
  if (seen.looks.empty() || needs_no_options(seen)) return {};
  if (const auto wide = find_wide_columns(seen))
    return {fmt::format("{}-{}", wide->first + 1, wide->last + 1), "", fmt::format("{}", wide->missing),
            true};
  auto value = value_column(seen);
  auto columns = columns_of_modes(seen, value);
  if (columns.size() < min_order) {
    value.reset();
    columns = columns_of_modes(seen, value);
  }
  if (columns.size() < min_order) {
    ReadingSuggestion none;
    none.is_possible = false;
    return none;
  }
  return {fmt::format("{}", fmt::join(columns, ",")), value ? name_for_option(seen, *value) : "1", "", false};
}

std::vector<std::string> reading_commands(const SourceFiles& source, const SeenFile& seen,
                                          const ReadingSuggestion& suggestion) {
  const bool is_irregular = seen.looks.empty() && seen.most_fields > 0;
  if (!suggestion.is_possible) return {};
  if (!seen.is_adjacency && (is_irregular || (seen.looks.empty() && !seen.fault.empty()))) return {};
  std::string files;
  for (const auto& path : source.given)
    files += (files.empty() ? "" : " ") + report::for_shell(path.string());
  const auto with_options = files + options_for(seen, suggestion);
  std::vector<std::string> commands = {"polyad stats " + with_options};
  if (auto completion = completion_command(files, seen)) commands.push_back(std::move(*completion));
  commands.push_back("polyad cpd " + with_options + option("rank", "8"));
  return commands;
}

}  // namespace polyad::tasks
