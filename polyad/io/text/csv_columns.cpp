#include "polyad/io/text/csv_columns.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

using Days = std::chrono::sys_days;

constexpr std::array<std::pair<std::string_view, ColumnKind>, 6> kinds{{{"label", ColumnKind::label},
                                                                        {"index", ColumnKind::index},
                                                                        {"hour", ColumnKind::hour},
                                                                        {"day", ColumnKind::day},
                                                                        {"week", ColumnKind::week},
                                                                        {"month", ColumnKind::month}}};

CsvColumn parse_column(std::string_view text) {
  const auto colon = text.rfind(':');
  for (const auto& [name, kind] : kinds)
    if (colon != std::string_view::npos && text.substr(colon + 1) == name)
      return {std::string(text.substr(0, colon)), kind};
  return {std::string(text), ColumnKind::label};
}

bool is_plain_time(const CsvColumn& column) {
  return column.kind == ColumnKind::label && (column.name == "time" || column.name == "timestamp");
}

struct Moment {
  Days day;
  int hour = 0;
};

std::optional<int> digits_at(std::string_view text, std::size_t begin, std::size_t count) {
  if (begin + count > text.size()) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(begin, count)) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

// What may follow the hour: nothing, :05, :05:30, :05:30.25, and Z. Another time zone would move the bin.
bool is_rest_of_time(std::string_view text) {
  if (text.ends_with('Z')) text.remove_suffix(1);
  for (int part = 0; part < 2 && text.starts_with(':'); ++part) {
    const auto number = digits_at(text, 1, 2);
    if (!number || *number > 60) return false;
    text.remove_prefix(3);
  }
  if (text.starts_with('.'))
    text.remove_prefix(std::min(text.find_first_not_of("0123456789", 1), text.size()));
  return text.empty();
}

// 2014-04-01, 2014-04-01T13:05:00, 2014-04-01 13:05
std::optional<Moment> parse_iso(std::string_view text) {
  const auto year = digits_at(text, 0, 4), month = digits_at(text, 5, 2), day = digits_at(text, 8, 2);
  if (!year || !month || !day || text[4] != '-' || text[7] != '-') return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(unsigned(*month)),
                                         std::chrono::day(unsigned(*day))};
  if (!date.ok()) return std::nullopt;
  if (text.size() == 10) return Moment{Days(date), 0};
  const auto hour = digits_at(text, 11, 2);
  if ((text[10] != 'T' && text[10] != ' ') || !hour || *hour > 23) return std::nullopt;
  if (!is_rest_of_time(text.substr(13))) return std::nullopt;
  return Moment{Days(date), *hour};
}

// 20140401 is more likely a date than the seconds of an August day in 1970.
bool looks_like_a_date(std::string_view text) {
  return text.size() == 8 && (text.starts_with("19") || text.starts_with("20")) &&
         parse_iso(fmt::format("{}-{}-{}", text.substr(0, 4), text.substr(4, 2), text.substr(6, 2)));
}

std::optional<Moment> parse_moment(std::string_view text) {
  const auto seconds = parse_real(text);
  if (!seconds) return parse_iso(text);
  if (looks_like_a_date(text)) return std::nullopt;
  constexpr double year_9999 = 253402300799.0;
  if (!(*seconds >= 0 && *seconds <= year_9999)) return std::nullopt;
  const auto hours = Index(*seconds) / 3600;
  return Moment{Days(std::chrono::days(hours / 24)), int(hours % 24)};
}

// ISO 8601: the week that holds the year's first Thursday is its first.
std::string week_label(Days day) {
  const unsigned weekday = std::chrono::weekday(day).iso_encoding();
  const Days thursday = day + std::chrono::days(4 - int(weekday));
  const auto year = std::chrono::year_month_day(thursday).year();
  const Days new_year(year / std::chrono::January / 1);
  return fmt::format("{:04}-W{:02}", int(year), (thursday - new_year).count() / 7 + 1);
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
  if (is_time(result.modes.back().kind))
    throw Error(Errc::bad_option,
                fmt::format("{0} ends with the time '{2}', which cannot be the value; name "
                            "the value with {1} NAME, or count lines with {1} 1",
                            option_name("columns"), option_name("value"), result.modes.back().name));
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

std::string time_label(std::string_view text, ColumnKind kind) {
  const auto moment = parse_moment(text);
  if (!moment) return {};
  if (kind == ColumnKind::week) return week_label(moment->day);
  const std::chrono::year_month_day date(moment->day);
  std::string label = fmt::format("{:04}-{:02}", int(date.year()), unsigned(date.month()));
  if (kind == ColumnKind::month) return label;
  label += fmt::format("-{:02}", unsigned(date.day()));
  if (kind == ColumnKind::day) return label;
  return label + fmt::format("T{:02}", moment->hour);
}

}  // namespace polyad::io
