#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "polyad/base/types.hpp"
#include "polyad/io/text/csv_columns.hpp"

namespace polyad::io {

// The label of a binned time: 2014-04-01T13, 2014-04-01, 2014-W14, 2014-04, 13, Tuesday or April, in UTC;
// empty if the text is no time. It may be
//   seconds, milliseconds, microseconds or nanoseconds since 1970, told apart by their size;
//   a date 2014-04-01, 2014/4/1, 20140401, 1.4.2014 (day first), or 4/1/2014 or 04-01-2014 (month first, or
//   day first if `dates` says so), with or without a time of day 13:05, 13:05:30.25 or 1:05 PM, and with or
//   without a time zone Z, UTC, GMT, +02 or -05:30.
std::string time_label(std::string_view text, ColumnKind kind, DateOrder dates = DateOrder::month_first);

// The same in two steps, for many times with few labels: the number of the bin, if the text is a time, and
// the label of that. Different bins have different labels.
std::optional<Index> time_bin(std::string_view text, ColumnKind kind, DateOrder dates);
std::string label_of_bin(Index bin, ColumnKind kind);

// What one time says about the order of day and month in its column.
enum class DateSign {
  none,    // it is no time, or its order is known: the year begins it, points separate it, or day = month
  either,  // as 1/2/2014
  month_first,  // as 12/31/2014
  day_first     // as 31/12/2014
};
DateSign date_sign(std::string_view text);

// All bins of a mode in their order, so that its axis has no gaps: from the first to the last of these
// labels, or the whole day, week or year. Throws Error{bad_input} if they would be more than a million;
// `name` is that of the mode.
std::vector<std::string> complete_bins(const std::vector<std::string>& labels, ColumnKind kind,
                                       const std::string& name);

}  // namespace polyad::io
