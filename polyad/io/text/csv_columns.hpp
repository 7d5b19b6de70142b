#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace polyad::io {

// How the entries of a column become the indices of a mode: every distinct name gets one (label), they
// are indices already, from 1 on (index), or they are times and every hour, day, ISO week or month gets one.
enum class ColumnKind { label, index, hour, day, week, month };
constexpr bool is_time(ColumnKind kind) {
  return kind != ColumnKind::label && kind != ColumnKind::index;
}

struct CsvColumn {
  std::string name;
  ColumnKind kind = ColumnKind::label;
};

// Which columns of a csv file make the tensor.
struct CsvColumns {
  std::vector<CsvColumn> modes;
  std::string value;              // empty: every line counts 1
  std::vector<std::string> idle;  // named, but neither mode nor value
};

// Reads --columns ("user,item,rating", "user,item,time:day", "row:index,column:index,count") and --value
// ("rating"; "1": count lines; empty: the last of the columns is the value, but for a final `time` or
// `timestamp` without a kind, which stays idle, as in the MovieLens forms). Throws Error{bad_option}.
CsvColumns parse_columns(std::string_view columns, std::string_view value);

// The same for coordinates of a model of this order: the value may be left out.
CsvColumns parse_coordinate_columns(std::string_view columns, std::string_view value, int order);

// The label of a time, binned: 2014-04-01T13, 2014-04-01, 2014-W14 or 2014-04. `text` is seconds since
// 1970 or an ISO date, with or without a time of day; empty when it is neither.
std::string time_label(std::string_view text, ColumnKind kind);

}  // namespace polyad::io
