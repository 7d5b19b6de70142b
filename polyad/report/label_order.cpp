#include "polyad/report/label_order.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace polyad::report {
namespace {

// Whether every label has a place, and each place is beyond the one before.
template <class PlaceOf>
bool ascend(std::span<const std::string> labels, PlaceOf place_of) {
  auto last = place_of(labels[0]);
  if (!last) return false;
  for (const auto& label : labels.subspan(1)) {
    auto place = place_of(label);
    if (!place || !(*last < *place)) return false;
    last = std::move(place);
  }
  return true;
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// A date or time as its numbers, the largest unit first, and the separators between them.
struct Moment {
  std::array<int, 7> numbers{};
  std::string between;
};

std::optional<Moment> split(std::string_view text) {
  Moment moment;
  std::size_t count = 0;
  const char *p = text.data(), *end = p + text.size();
  while (p != end) {
    if (*p < '0' || *p > '9') {
      moment.between += *p++;
      continue;
    }
    if (count == moment.numbers.size()) return std::nullopt;
    const auto [after, error] = std::from_chars(p, end, moment.numbers[count++]);
    if (error != std::errc()) return std::nullopt;
    p = after;
  }
  return moment;
}

// Moments of one form: 2014-04, 2014-W14, 2014-04-01, 2014/04/01 09:30, 9:00, 09:00:00.
bool are_moments(std::span<const std::string> labels) {
  constexpr std::array dates{"-",    "--",   "/",    "//",    "-W",    "-Q",    "--T",    "-- ",
                             "--T:", "-- :", "// :", "--T::", "-- ::", "// ::", "--T::.", "-- ::."};
  constexpr std::array times{":", "::", "::."};
  std::string form = split(labels[0]).value_or(Moment{}).between;
  const auto is_like = [&](const char* known) { return form == known || form == std::string(known) + "Z"; };
  const bool is_date = std::ranges::any_of(dates, is_like);
  if (!is_date && !std::ranges::any_of(times, is_like)) return false;
  return ascend(labels, [&](const std::string& label) -> std::optional<std::array<int, 7>> {
    const auto moment = split(label);
    const bool has_form = moment && moment->between == form && label[0] >= '0' && label[0] <= '9';
    if (!has_form || (is_date && moment->numbers[0] < 1000)) return std::nullopt;
    return moment->numbers;
  });
}

// Names that go round, whole or by their first three letters, in any case, from any of them on.
template <std::size_t N>
bool are_names_in_order(std::span<const std::string> labels, const std::array<std::string_view, N>& names) {
  const auto position = [&](const std::string& label) -> std::optional<std::size_t> {
    std::string lower = label;
    std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    for (std::size_t i = 0; i < N; ++i)
      if (lower == names[i] || lower == names[i].substr(0, 3)) return i;
    return std::nullopt;
  };
  const auto first = position(labels[0]);
  if (!first) return false;
  return ascend(labels, [&](const std::string& label) -> std::optional<std::size_t> {
    const auto at = position(label);
    if (!at) return std::nullopt;
    return (*at + N - *first) % N;
  });
}

constexpr std::array<std::string_view, 12> months{"january",   "february", "march",    "april",
                                                  "may",       "june",     "july",     "august",
                                                  "september", "october",  "november", "december"};
constexpr std::array<std::string_view, 7> weekdays{"monday", "tuesday",  "wednesday", "thursday",
                                                   "friday", "saturday", "sunday"};

}  // namespace

bool are_ordered(std::span<const std::string> labels) {
  if (labels.empty() || ascend(labels, number)) return true;
  if (labels.size() == 1) return false;  // one name has no order
  return are_moments(labels) || are_names_in_order(labels, months) || are_names_in_order(labels, weekdays);
}

}  // namespace polyad::report
