#include "polyad/tensor/labels.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace polyad {
namespace {

bool is_whole_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Compares whole numbers of any length; "07" comes before "7", which has the same value.
bool numerically_less(std::string_view a, std::string_view b) {
  const bool a_negative = a.starts_with('-'), b_negative = b.starts_with('-');
  if (a_negative != b_negative) return a_negative;
  const auto digits = [](std::string_view text) {
    const auto first = text.find_first_not_of("-0");
    return first == std::string_view::npos ? std::string_view() : text.substr(first);
  };
  const auto x = digits(a), y = digits(b);
  if (x == y) return a < b;
  const bool less = std::tuple(x.size(), x) < std::tuple(y.size(), y);
  return a_negative ? !less : less;
}

// With or without decimals and exponent.
std::optional<double> number_of(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size() && std::isfinite(number);
  return is_number ? std::optional(number) : std::nullopt;
}

}  // namespace

void sort_labels(std::vector<std::string>& labels) {
  if (std::ranges::all_of(labels, is_whole_number))
    std::ranges::sort(labels, numerically_less);
  else if (std::ranges::all_of(labels, [](const auto& label) { return number_of(label).has_value(); }))
    std::ranges::sort(labels, {}, [](const auto& label) { return std::pair(*number_of(label), label); });
  else
    std::ranges::sort(labels);
}

}  // namespace polyad
