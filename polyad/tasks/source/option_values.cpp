#include "polyad/tasks/option_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <system_error>
#include <utility>

#include "polyad/algo/cp/cp_options.hpp"
#include "polyad/base/error.hpp"

namespace polyad {

std::optional<Index> parse_whole_number(std::string_view text) {
  const char* const end = text.data() + text.size();
  Index whole = 0;
  if (const auto [rest, error] = std::from_chars(text.data(), end, whole);
      error == std::errc() && rest == end)
    return whole;
  double real = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, real);
  constexpr double largest = 0x1p53;
  if (error != std::errc() || rest != end || !(std::abs(real) <= largest) || real != std::floor(real))
    return std::nullopt;
  return Index(real);
}

std::vector<int> parse_modes(const std::string& text) {
  std::vector<int> modes;
  for (std::size_t at = 0; at <= text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    const auto number = parse_whole_number(std::string_view(text).substr(at, comma - at)).value_or(0);
    modes.push_back(number >= 1 && number <= max_order ? int(number) - 1 : -1);
    at = comma + 1;
  }
  return modes;
}

std::vector<int> parse_mode_order(const std::string& text, int order) {
  if (text == "auto") return {};
  std::vector<int> natural(static_cast<std::size_t>(order));
  std::iota(natural.begin(), natural.end(), 0);
  if (text == "natural") return natural;
  auto modes = parse_modes(text);
  if (!std::ranges::is_permutation(modes, natural))
    throw Error(Errc::bad_option,
                fmt::format("{} {}: expected auto, natural or each of 1 to {} once, as in {}",
                            option_name("mode_order"), text, order, order == 2 ? "2,1" : "2,1,3"));
  return modes;
}

std::vector<bool> parse_nonneg(const std::string& text, int order) {
  if (text == "none") return {};
  std::vector<bool> modes(std::size_t(order), text == "all");
  if (text == "all") return modes;
  for (const int mode : parse_modes(text)) {
    if (mode < 0 || mode >= order || modes[mode])
      throw Error(Errc::bad_option, fmt::format("{0}={1}: expected modes from 1 to {2}, as in {0}=1,3",
                                                option_name("nonnegative"), text, order));
    modes[mode] = true;
  }
  return modes;
}

std::string start_model_path(const std::string& text) {
  if (text == to_string(named(text, all_starts()))) return "";
  std::error_code ignored;
  if (!std::filesystem::exists(text, ignored))
    throw Error(Errc::bad_option, fmt::format("{} {}: expected auto, uniform, normal, svd, or a model",
                                              option_name("start"), text));
  return text;
}

std::vector<Index> parse_numbers(const std::string& text, const std::string& option, Index largest,
                                 Index most) {
  const auto fail = [&] {
    throw Error(Errc::bad_option,
                fmt::format("{} {}: expected numbers from 1 to {}, at most {} of them, as in 1-8 or 1,2,4",
                            option, text, largest, most));
  };
  std::vector<Index> numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    const auto item = text.substr(at, comma - at);
    const auto dash = std::min(item.find('-'), item.size());
    const Index first = parse_whole_number(item.substr(0, dash)).value_or(0);
    const Index last = dash < item.size() ? parse_whole_number(item.substr(dash + 1)).value_or(0) : first;
    if (first < 1 || last < first || last > largest || last - first >= most) fail();
    for (Index number = first; number <= last; ++number) numbers.push_back(number);
    at = comma + 1;
  }
  std::ranges::sort(numbers);
  const auto repeated = std::ranges::unique(numbers);
  numbers.erase(repeated.begin(), repeated.end());
  if (std::ssize(numbers) > most) fail();
  return numbers;
}

Index parse_bytes(const std::string& text, const std::string& option) {
  std::size_t used = 0;
  double amount = 0;
  try {
    amount = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  std::string unit = text.substr(used);
  std::ranges::transform(unit, unit.begin(), [](unsigned char c) { return char(std::toupper(c)); });
  static const std::vector<std::pair<std::string, double>> units{
      {"", 1},     {"B", 1},   {"K", 1e3},  {"KB", 1e3}, {"M", 1e6},
      {"MB", 1e6}, {"G", 1e9}, {"GB", 1e9}, {"T", 1e12}, {"TB", 1e12}};
  const auto known = std::ranges::find(units, unit, &std::pair<std::string, double>::first);
  if (used == 0 || known == units.end() || !(amount * known->second >= 1) || amount * known->second > 1e18)
    throw Error(Errc::bad_option, fmt::format("{} {}: expected an amount of memory, as in 800MB or 2.5GB",
                                              option, text.empty() ? "''" : text));
  return Index(amount * known->second);
}

double parse_duration(const std::string& text, const std::string& option) {
  static const std::vector<std::pair<std::string, double>> units{{"", 1},     {"s", 1},    {"m", 60},
                                                                 {"min", 60}, {"h", 3600}, {"d", 86400}};
  double seconds = 0;
  bool is_sound = !text.empty();
  for (std::size_t at = 0; is_sound && at < text.size();) {
    const auto end = std::min(text.find_first_not_of("0123456789.", at), text.size());
    const auto next = std::min(text.find_first_of("0123456789.", end), text.size());
    const auto known =
        std::ranges::find(units, text.substr(end, next - end), &std::pair<std::string, double>::first);
    double amount = 0;
    const auto* const last = text.data() + end;
    const auto [used, error] = std::from_chars(text.data() + at, last, amount);
    is_sound = error == std::errc() && used == last && known != units.end();
    if (is_sound) seconds += amount * known->second;
    at = next;
  }
  if (!is_sound || !(seconds > 0) || seconds > 1e9)
    throw Error(Errc::bad_option, fmt::format("{} {}: expected a time, as in 90s, 10min or 1h50m", option,
                                              text.empty() ? "''" : text));
  return seconds;
}

std::vector<Index> parse_dims(const std::string& text, const std::string& option, const char* example) {
  std::vector<Index> dims;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find_first_of("x,", begin), text.size());
    const auto dim = parse_whole_number(text.substr(begin, end - begin));
    if (!dim || *dim < 1)
      throw Error(Errc::bad_option,
                  fmt::format("{} {}: expected whole numbers from 1 on, as in {}", option, text, example));
    dims.push_back(*dim);
    begin = end + 1;
  }
  return dims;
}

GridShape parse_grid_shape(const std::string& text) {
  const auto dims = parse_dims(text, option_name("grid"));
  if (std::ranges::max(dims) > std::numeric_limits<int>::max())
    throw Error(Errc::bad_option, fmt::format("grid {} has more than 2^31 - 1 processes", text));
  return GridShape({dims.begin(), dims.end()});
}

}  // namespace polyad
