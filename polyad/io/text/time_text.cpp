#include "polyad/io/text/time_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "polyad/base/error.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

using Days = std::chrono::sys_days;
constexpr Index minutes_per_day = 24 * 60;

// Reads a time from left to right.
class TimeParser {
 public:
  explicit TimeParser(std::string_view text, DateOrder dates = DateOrder::month_first)
      : rest_(text), dates_(dates) {}

  // Minutes since 1970, in UTC.
  std::optional<Index> parse() {
    const auto day = parse_date();
    if (!day) return std::nullopt;
    const Index minutes = day->time_since_epoch().count() * minutes_per_day;
    if (rest_.empty()) return minutes;
    if (!take('T') && !take(' ')) return std::nullopt;
    const auto of_day = parse_time_of_day();
    const auto offset = of_day ? parse_zone() : std::nullopt;
    if (!offset || !rest_.empty()) return std::nullopt;
    return minutes + *of_day - *offset;
  }

 private:
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  // A number with so many digits.
  std::optional<int> number(std::size_t fewest, std::size_t most) {
    std::size_t count = 0;
    int value = 0;
    for (; count < std::min(most, rest_.size()) && is_digit(rest_[count]); ++count)
      value = value * 10 + (rest_[count] - '0');
    if (count < fewest) return std::nullopt;
    rest_.remove_prefix(count);
    return value;
  }

  std::size_t num_digits() const {
    return std::size_t(std::ranges::find_if_not(rest_, is_digit) - rest_.begin());
  }

  std::optional<Days> parse_date() {
    if (num_digits() == 8) {
      const auto year = number(4, 4), month = number(2, 2), day = number(2, 2);  // in this order
      return date(year, month, day);
    }
    const bool begins_with_year = num_digits() == 4;
    const auto first = number(1, 4);
    if (!first || rest_.empty()) return std::nullopt;
    const char separator = rest_.front();
    if (separator != '-' && separator != '/' && separator != '.') return std::nullopt;
    rest_.remove_prefix(1);
    const std::size_t fewest = separator == '-' ? 2 : 1;
    const auto second = number(fewest, 2);
    if (!second || !take(separator)) return std::nullopt;
    if (begins_with_year) return separator == '.' ? std::nullopt : date(first, second, number(fewest, 2));
    const auto year = number(4, 4);
    const bool has_day_first = separator == '.' || dates_ == DateOrder::day_first;
    return has_day_first ? date(year, second, first) : date(year, first, second);
  }

  static std::optional<Days> date(std::optional<int> year, std::optional<int> month, std::optional<int> day) {
    if (!year || !month || !day) return std::nullopt;
    const std::chrono::year_month_day found{std::chrono::year(*year), std::chrono::month(unsigned(*month)),
                                            std::chrono::day(unsigned(*day))};
    return found.ok() ? std::optional<Days>(found) : std::nullopt;
  }

  // In minutes. Seconds are read and dropped: no bin is shorter than an hour.
  std::optional<Index> parse_time_of_day() {
    const auto hour = number(1, 2);
    if (!hour || *hour > 23) return std::nullopt;
    int minute = 0;
    if (take(':')) {
      const auto found = number(2, 2);
      if (!found || *found > 59) return std::nullopt;
      minute = *found;
      if (take(':') && !take_seconds()) return std::nullopt;
    }
    const auto in_day = half_of_day(*hour);
    return in_day ? std::optional<Index>(*in_day * 60 + minute) : std::nullopt;
  }

  bool take_seconds() {
    const auto seconds = number(2, 2);
    if (!seconds || *seconds > 60) return false;
    if (take('.')) rest_.remove_prefix(num_digits());
    return true;
  }

  // The hour of the day, given that of a clock and what follows: AM, PM, or nothing.
  std::optional<int> half_of_day(int hour) {
    const auto before = rest_;
    take(' ');
    const bool is_morning = take("AM") || take("am"),
               is_afternoon = !is_morning && (take("PM") || take("pm"));
    if (!is_morning && !is_afternoon) {
      rest_ = before;
      return hour;
    }
    if (hour < 1 || hour > 12) return std::nullopt;
    return hour % 12 + (is_afternoon ? 12 : 0);
  }

  // How many minutes its clocks are ahead of UTC; without a zone 0.
  std::optional<Index> parse_zone() {
    if (rest_.empty() || take('Z') || take("UTC") || take("GMT") || take(" UTC") || take(" GMT")) return 0;
    take(' ');
    const bool is_ahead = take('+');
    if (!is_ahead && !take('-')) return std::nullopt;
    const auto hours = number(2, 2);
    if (!hours || *hours > 15) return std::nullopt;
    std::optional<int> minutes = 0;
    if (take(':') || !rest_.empty()) minutes = number(2, 2);
    if (!minutes || *minutes > 59) return std::nullopt;
    const Index offset = *hours * 60 + *minutes;
    return is_ahead ? offset : -offset;
  }

  std::string_view rest_;
  DateOrder dates_;
};

// 20140401 is more likely a date than the seconds of an August day in 1970.
bool has_digits_of_a_date(std::string_view text) {
  return text.size() == 8 && (text.starts_with("19") || text.starts_with("20")) &&
         std::ranges::all_of(text, is_digit);
}

// Minutes since 1970, of seconds, or of milliseconds and so on, which are that large for every year from 1974
// on and too large for the unit before.
std::optional<Index> minutes_of(double number) {
  constexpr double seconds_of_year_5138 = 1e11, nanoseconds_of_year_2262 = 9.2e18;
  if (!(number >= 0 && number <= nanoseconds_of_year_2262)) return std::nullopt;
  for (double largest = seconds_of_year_5138, unit = 1; largest < 1e21; largest *= 1e3, unit *= 1e3)
    if (number < largest) return Index(number / unit) / 60;
  return std::nullopt;
}

// A number of two digits; negative for any other characters.
int two_digits(const char* at) {
  const auto high = unsigned(at[0]) - unsigned('0'), low = unsigned(at[1]) - unsigned('0');
  return high > 9 || low > 9 ? -1 : int(high * 10 + low);
}

// Of 2014-04-01T13:05:30, or with a blank, which most files have: what TimeParser finds, sooner. Nothing for
// any other text, also with a month 13.
std::optional<Index> minutes_of_usual(std::string_view text) {
  if (text.size() != 19 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != ' ') ||
      text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const int century = two_digits(&text[0]), year = two_digits(&text[2]), month = two_digits(&text[5]),
            day = two_digits(&text[8]), hour = two_digits(&text[11]), minute = two_digits(&text[14]),
            second = two_digits(&text[17]);
  if ((century | year | month | day | hour | minute | second) < 0 || hour > 23 || minute > 59 || second > 60)
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(century * 100 + year),
                                         std::chrono::month(unsigned(month)),
                                         std::chrono::day(unsigned(day))};
  if (!date.ok()) return std::nullopt;
  return Days(date).time_since_epoch().count() * minutes_per_day + hour * 60 + minute;
}

std::optional<Index> parse_minutes(std::string_view text, DateOrder dates) {
  if (const auto minutes = minutes_of_usual(text)) return minutes;
  if (has_digits_of_a_date(text)) return TimeParser(text).parse();
  if (const auto number = parse_real(text)) return minutes_of(*number);
  return TimeParser(text, dates).parse();
}

// ISO 8601: the week with the first Thursday of the year is its first.
std::string week_label(Days monday) {
  const Days thursday = monday + std::chrono::days(3);
  const auto year = std::chrono::year_month_day(thursday).year();
  const Days new_year(year / std::chrono::January / 1);
  return fmt::format("{:04}-W{:02}", int(year), (thursday - new_year).count() / 7 + 1);
}

constexpr std::array weekdays{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
constexpr std::array months{"January", "February", "March",     "April",   "May",      "June",
                            "July",    "August",   "September", "October", "November", "December"};

Index floor_divide(Index a, Index b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

// The number of the bin of a minute; bins that follow each other have numbers that do.
Index bin_of(Index minutes, ColumnKind kind) {
  constexpr Index thursday = 3;  // 1970 began with it, counted from Monday
  const Index days = floor_divide(minutes, minutes_per_day);
  const auto month = [&] {
    const std::chrono::year_month_day date{Days(std::chrono::days(days))};
    return int(date.year()) * 12 + Index(unsigned(date.month())) - 1;
  };
  switch (kind) {
    case ColumnKind::hour:
      return floor_divide(minutes, 60);
    case ColumnKind::week:
      return floor_divide(days + thursday, 7);
    case ColumnKind::month:
      return month();
    case ColumnKind::hour_of_day:
      return (minutes - days * minutes_per_day) / 60;
    case ColumnKind::weekday:
      return days + thursday - 7 * floor_divide(days + thursday, 7);
    case ColumnKind::month_of_year:
      return month() % 12;
    default:
      return days;
  }
}

std::string label_of(Index bin, ColumnKind kind) {
  constexpr Index thursday = 3;
  switch (kind) {
    case ColumnKind::hour: {
      const Index days = floor_divide(bin, 24);
      return fmt::format("{}T{:02}", label_of(days, ColumnKind::day), bin - 24 * days);
    }
    case ColumnKind::week:
      return week_label(Days(std::chrono::days(7 * bin - thursday)));
    case ColumnKind::month:
      return fmt::format("{:04}-{:02}", bin / 12, bin % 12 + 1);
    case ColumnKind::hour_of_day:
      return fmt::format("{:02}", bin);
    case ColumnKind::weekday:
      return weekdays[std::size_t(bin)];
    case ColumnKind::month_of_year:
      return months[std::size_t(bin)];
    default: {
      const std::chrono::year_month_day date{Days(std::chrono::days(bin))};
      return fmt::format("{:04}-{:02}-{:02}", int(date.year()), unsigned(date.month()), unsigned(date.day()));
    }
  }
}

// A minute in the bin of a label that label_of made, which is no part of a cycle.
Index minute_in(const std::string& label, ColumnKind kind) {
  if (kind == ColumnKind::month) return *TimeParser(label + "-01").parse();
  if (kind != ColumnKind::week) return *TimeParser(label).parse();
  const Index january_4 = *TimeParser(label.substr(0, 4) + "-01-04").parse();  // is in the first week
  return january_4 + (std::stoi(label.substr(6)) - 1) * 7 * minutes_per_day;
}

}  // namespace

std::optional<Index> time_bin(std::string_view text, ColumnKind kind, DateOrder dates) {
  const auto minutes = parse_minutes(text, dates);
  constexpr Days first(std::chrono::year(1) / 1 / 8);  // of which the week is in the year 1 too
  if (!minutes || *minutes < first.time_since_epoch().count() * minutes_per_day) return std::nullopt;
  return bin_of(*minutes, kind);
}

std::string label_of_bin(Index bin, ColumnKind kind) {
  return label_of(bin, kind);
}

std::string time_label(std::string_view text, ColumnKind kind, DateOrder dates) {
  const auto bin = time_bin(text, kind, dates);
  return bin ? label_of(*bin, kind) : "";
}

DateSign date_sign(std::string_view text) {
  const auto with_month_first = parse_minutes(text, DateOrder::month_first);
  const auto with_day_first = parse_minutes(text, DateOrder::day_first);
  if (with_month_first == with_day_first) return DateSign::none;
  if (with_month_first && with_day_first) return DateSign::either;
  return with_month_first ? DateSign::month_first : DateSign::day_first;
}

std::vector<std::string> complete_bins(const std::vector<std::string>& labels, ColumnKind kind,
                                       const std::string& name) {
  Index first = 0, last = -1;
  if (kind == ColumnKind::hour_of_day) {
    last = 23;
  } else if (kind == ColumnKind::weekday) {
    last = std::ssize(weekdays) - 1;
  } else if (kind == ColumnKind::month_of_year) {
    last = std::ssize(months) - 1;
  } else if (!labels.empty()) {
    const auto [earliest, latest] = std::ranges::minmax(labels);
    first = bin_of(minute_in(earliest, kind), kind);
    last = bin_of(minute_in(latest, kind), kind);
    constexpr Index most = 1 << 20;
    if (last - first >= most)
      throw Error(Errc::bad_input,
                  fmt::format("the times in the column '{}' extend from {} to {}: expected at most {} "
                              "bins; longer ones, such as {}:month, are fewer",
                              name, earliest, latest, most, name));
  }
  std::vector<std::string> all;
  for (Index bin = first; bin <= last; ++bin) all.push_back(label_of(bin, kind));
  return all;
}

}  // namespace polyad::io
