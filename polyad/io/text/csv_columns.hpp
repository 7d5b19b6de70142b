#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace polyad::io {

// How the entries of a column become indices of a mode: every distinct name gets one (label); they
// are indices from 1 (index); they are times, and every hour, day, ISO week or month from the first to the
// last gets one, or every hour of the day, day of the week or month of the year; or they are numbers, and
// every interval of a width from the first to the last gets one, or intervals of about equally many entries
// do.
enum class ColumnKind {
  label,
  index,
  hour,
  day,
  week,
  month,
  hour_of_day,
  weekday,
  month_of_year,
  width,
  quantiles
};
constexpr bool is_time(ColumnKind kind) {
  return kind >= ColumnKind::hour && kind <= ColumnKind::month_of_year;
}
constexpr bool bins_numbers(ColumnKind kind) {
  return kind == ColumnKind::width || kind == ColumnKind::quantiles;
}

// As it is written behind a column: "day", "hour-of-day"; empty for bins of numbers.
std::string_view name_of(ColumnKind kind);

// Of dates that end with the year, such as 31/12/2014 or 12-31-2014. Those of a column with an unknown order
// are read with the month first.
enum class DateOrder { unknown, month_first, day_first };

// The same with the width of the intervals, or their number; and the order of dates, stated or found.
struct ColumnRule {
  ColumnKind kind = ColumnKind::label;
  double size = 0;
  DateOrder dates = DateOrder::unknown;
  std::string date_example = {};  // which showed the order; empty if it was stated
};

struct CsvColumn {
  std::string name;
  ColumnRule rule = {};
};

// The columns of a csv file that make up the tensor.
struct CsvColumns {
  std::vector<CsvColumn> modes;
  std::string value;              // empty: every line counts 1
  std::vector<std::string> idle;  // columns without effect
  std::vector<std::string> wide_values =
      {};  // of a wide table: the columns of values; then there is no `value`
};

// Parses the options `columns` ("user,item,rating", "user,item,time:day", "user,time:day=dmy,item",
// "user,age:width=10,rating", "row:index,column:index,count") and `value` ("rating"; "1": count lines; empty:
// the last of the columns is the value, except a final `time` or `timestamp` without a kind, which is
// ignored, as in the MovieLens formats). Throws Error{bad_option}.
CsvColumns parse_columns(std::string_view columns, std::string_view value);

// Parses the option `columns` of a wide table: "name:label,2-101" or "2-101". Columns that end in :label name
// the rows, the others hold values.
CsvColumns parse_wide_columns(std::string_view columns);

// The same as parse_columns for coordinates of a model of this order: the value is optional.
CsvColumns parse_coordinate_columns(std::string_view columns, std::string_view value, int order);

}  // namespace polyad::io
