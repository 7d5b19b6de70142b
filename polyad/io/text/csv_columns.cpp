#include "polyad/io/text/csv_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

constexpr std::array<std::pair<std::string_view, ColumnKind>, 9> kinds{
    {{"label", ColumnKind::label},
     {"index", ColumnKind::index},
     {"hour", ColumnKind::hour},
     {"day", ColumnKind::day},
     {"week", ColumnKind::week},
     {"month", ColumnKind::month},
     {"hour-of-day", ColumnKind::hour_of_day},
     {"weekday", ColumnKind::weekday},
     {"month-of-year", ColumnKind::month_of_year}}};

// The width of "width=10" or the number of "quantiles=4"; nothing for other texts.
std::optional<ColumnRule> parse_number_rule(std::string_view text, std::string_view column) {
  const auto fail = [&](const char* expected) {
    throw Error(Errc::bad_option,
                fmt::format("{} {}: expected {}", option_name("columns"), column, expected));
  };
  constexpr double most = 1 << 20;
  const auto equals = text.find('=');
  const auto name = text.substr(0, equals);
  if (equals == std::string_view::npos || (name != "width" && name != "quantiles")) return std::nullopt;
  const auto size = parse_real(text.substr(equals + 1)).value_or(0);
  if (name == "width") {
    if (!(size > 0 && std::isfinite(size))) fail("a width above 0, as in age:width=10");
    return ColumnRule{ColumnKind::width, size};
  }
  if (!(size >= 1 && size <= most && size == std::floor(size)))
    fail("a number of bins from 1 to 1048576, as in age:quantiles=4");
  return ColumnRule{ColumnKind::quantiles, size};
}

// The rule of "day" or "month=dmy"; nothing for other texts.
std::optional<ColumnRule> parse_kind(std::string_view text, std::string_view column) {
  const auto equals = text.find('=');
  const auto found = std::ranges::find(kinds, text.substr(0, equals), [](auto& kind) { return kind.first; });
  if (found == kinds.end()) return std::nullopt;
  if (equals == std::string_view::npos) return ColumnRule{found->second};
  if (!is_time(found->second)) return std::nullopt;
  const auto order = text.substr(equals + 1);
  if (order != "dmy" && order != "mdy")
    throw Error(Errc::bad_option,
                fmt::format("{} {}: expected the order of dates, {}=dmy with the day first or "
                            "{}=mdy with the month first",
                            option_name("columns"), column, found->first, found->first));
  return ColumnRule{found->second, 0, order == "dmy" ? DateOrder::day_first : DateOrder::month_first};
}

CsvColumn parse_column(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return {std::string(text)};
  auto rule = parse_number_rule(text.substr(colon + 1), text);
  if (!rule) rule = parse_kind(text.substr(colon + 1), text);
  if (!rule) return {std::string(text)};
  return {std::string(text.substr(0, colon)), *rule};
}

bool is_plain_time(const CsvColumn& column) {
  return column.rule.kind == ColumnKind::label && (column.name == "time" || column.name == "timestamp");
}

std::vector<CsvColumn> parse_list(std::string_view columns) {
  std::vector<CsvColumn> list;
  while (!columns.empty()) {
    const auto comma = std::min(columns.find(','), columns.size());
    list.push_back(parse_column(columns.substr(0, comma)));
    if (list.back().name.empty())
      throw Error(Errc::bad_option, option_name("columns") + " has an empty name");
    columns.remove_prefix(std::min(comma + 1, columns.size()));
  }
  return list;
}

// Adds a column such as "7" or "tea", or each of "2-101", to those of values.
void append_wide(const std::string& item, CsvColumns& result) {
  const auto dash = item.find('-');
  const auto first = parse_index(item.substr(0, dash));
  const auto last = dash == std::string::npos ? std::nullopt : parse_index(item.substr(dash + 1));
  constexpr Index most = 1 << 20;
  if (!first || !last) {
    result.wide_values.push_back(item);
    return;
  }
  if (*first < 1 || *last < *first || *last - *first >= most)
    throw Error(Errc::bad_option, fmt::format("{} {}: expected a range of columns such as 2-101",
                                              option_name("columns"), item));
  for (Index c = *first; c <= *last; ++c) result.wide_values.push_back(std::to_string(c));
}

}  // namespace

std::string_view name_of(ColumnKind kind) {
  const auto found = std::ranges::find(kinds, kind, [](auto& named) { return named.second; });
  return found == kinds.end() ? "" : found->first;
}

CsvColumns parse_columns(std::string_view columns, std::string_view value) {
  CsvColumns result{parse_list(columns), {}, {}};
  if (!value.empty()) {
    if (value != "1") result.value = value;
    return result;
  }
  if (result.modes.size() > 3 && is_plain_time(result.modes.back())) {
    result.idle.push_back(result.modes.back().name);
    result.modes.pop_back();
  }
  if (result.modes.size() < 3)
    throw Error(Errc::bad_option,
                fmt::format("{0} needs two or more modes and then the value (or {1} NAME, {1} 1), as in "
                            "{0} user,item,rating",
                            option_name("columns"), option_name("value")));
  if (const auto kind = result.modes.back().rule.kind; is_time(kind) || bins_numbers(kind))
    throw Error(Errc::bad_option, fmt::format("{0} ends with the {2} '{3}', which cannot be the value; name "
                                              "the value with {1} NAME, or count lines with {1} 1",
                                              option_name("columns"), option_name("value"),
                                              is_time(kind) ? "time" : "bins of", result.modes.back().name));
  result.value = result.modes.back().name;
  result.modes.pop_back();
  return result;
}

CsvColumns parse_wide_columns(std::string_view columns) {
  CsvColumns result;
  while (!columns.empty()) {
    const auto comma = std::min(columns.find(','), columns.size());
    const std::string item(columns.substr(0, comma));
    if (item.ends_with(":label"))
      result.modes.push_back(parse_column(item));
    else
      append_wide(item, result);
    columns.remove_prefix(std::min(comma + 1, columns.size()));
  }
  if (result.wide_values.empty())
    throw Error(Errc::bad_option, fmt::format("{0} names no column of values, as in {0} user:label,2-101",
                                              option_name("columns")));
  return result;
}

CsvColumns parse_coordinate_columns(std::string_view columns, std::string_view value, int order) {
  if (value == "1")
    throw Error(
        Errc::bad_option,
        option_name("value") + " 1 counts lines; here it names the column to compare with, if there is one");
  CsvColumns result{parse_list(columns), std::string(value), {}};
  auto& modes = result.modes;
  if (int(modes.size()) > order && is_plain_time(modes.back())) {
    result.idle.push_back(modes.back().name);
    modes.pop_back();
  }
  if (value.empty() && int(modes.size()) == order + 1) {
    result.value = modes.back().name;
    modes.pop_back();
  }
  if (int(modes.size()) != order)
    throw Error(
        Errc::bad_option,
        fmt::format("{} names {} modes, the model has {}; the value may follow them, or be named by {}",
                    option_name("columns"), modes.size(), order, option_name("value")));
  return result;
}

}  // namespace polyad::io
