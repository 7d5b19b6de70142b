#include "polyad/dense/distribution_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "polyad/base/error.hpp"

namespace polyad::dense {
namespace {

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

bool belongs_to_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '\'' || c == '_';
}

std::string without_spaces(std::string_view text) {
  std::string dense;
  for (const char c : text)
    if (std::isspace(static_cast<unsigned char>(c)) == 0) dense += c;
  return dense;
}

// Reads the text from left to right and says where it is not as expected.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text), rest_(text_) {}

  bool at_end() const { return rest_.empty(); }
  bool at(std::string_view token) const { return rest_.starts_with(token); }
  bool take(std::string_view token) {
    if (!at(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail(fmt::format("'{}'", token));
  }
  int number() {
    int value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < 0) fail("a number");
    rest_.remove_prefix(std::size_t(end - rest_.data()));
    return value;
  }
  std::string name() {
    std::size_t length = 0;
    while (length < rest_.size() && belongs_to_name(rest_[length])) ++length;
    std::string result(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return result;
  }
  std::string_view until(char closing) {
    const auto length = rest_.find(closing);
    if (length == std::string_view::npos) fail(fmt::format("'{}'", closing));
    const auto inside = rest_.substr(0, length);
    rest_.remove_prefix(length + 1);
    return inside;
  }
  [[noreturn]] void fail(const std::string& expected) const {
    const auto place = at_end() ? "at the end" : fmt::format("before '{}'", rest_);
    throw Error(Errc::bad_option, fmt::format("distribution '{}': expected {} {}", text_, expected, place));
  }

 private:
  std::string text_;
  std::string_view rest_;
};

// Numbers up to the closing token, separated by commas; there may be none.
std::vector<int> numbers_until(Scanner& scan, std::string_view closing) {
  std::vector<int> numbers;
  if (scan.take(closing)) return numbers;
  do numbers.push_back(scan.number());
  while (scan.take(","));
  scan.expect(closing);
  return numbers;
}

ModeDistribution parse_mode(Scanner& scan) {
  scan.expect("<");
  ModeDistribution mode{numbers_until(scan, ">")};
  if (scan.take("+")) mode.alignment = scan.number();
  return mode;
}

void parse_modes(Scanner& scan, TensorDistribution& distribution) {
  scan.expect("(");
  if (scan.take(")")) return;
  do distribution.modes.push_back(parse_mode(scan));
  while (scan.take(","));
  scan.expect(")");
}

void parse_places(Scanner& scan, TensorDistribution& distribution) {
  if (scan.take("at")) do {
      const int grid_mode = scan.number();
      scan.expect("=");
      distribution.held_on.push_back({grid_mode, scan.number()});
    } while (scan.take(","));
  if (scan.take("sum")) do
      distribution.summed_over.push_back(scan.number());
    while (scan.take(","));
}

// [(0,1);();(2)]
NamedDistribution parse_rote(Scanner& scan) {
  NamedDistribution named;
  do {
    scan.expect("(");
    named.distribution.modes.push_back({numbers_until(scan, ")")});
  } while (scan.take(";"));
  scan.expect("]");
  return named;
}

// The text in brackets if nothing follows it: [MC,*]
std::optional<TensorDistribution> as_elemental(std::string_view names) {
  TensorDistribution distribution;
  for (std::size_t at = 0; at <= names.size();) {
    const auto comma = std::min(names.find(',', at), names.size());
    const auto mode = elemental_distribution(names.substr(at, comma - at));
    if (!mode) return std::nullopt;
    distribution.modes.push_back(*mode);
    at = comma + 1;
  }
  return distribution;
}

}  // namespace

std::vector<std::string> split_indices(std::string_view text) {
  std::vector<std::string> names;
  const std::string dense = without_spaces(text);
  const bool with_commas = dense.find(',') != std::string::npos;
  bool begins = true;
  for (const char c : dense) {
    const bool continues = with_commas ? belongs_to_name(c) : belongs_to_name(c) && !is_letter(c);
    if (with_commas && c == ',' && !begins) {
      begins = true;
      continue;
    }
    if (is_letter(c) && (begins || !with_commas))
      names.emplace_back(1, c);
    else if (continues && !begins)
      names.back() += c;
    else
      throw Error(Errc::bad_option, fmt::format("indices '{}': expected letters, as in abc or a,b,c", text));
    begins = false;
  }
  if (with_commas && begins)
    throw Error(Errc::bad_option, fmt::format("indices '{}': expected an index after the comma", text));
  return names;
}

std::string to_string(const TensorDistribution& distribution) {
  std::vector<std::string> modes, planes;
  for (const auto& [grid_modes, alignment] : distribution.modes)
    modes.push_back(fmt::format("<{}>{}", fmt::join(grid_modes, ","),
                                alignment == 0 ? "" : fmt::format("+{}", alignment)));
  for (const auto& [grid_mode, coord] : distribution.held_on)
    planes.push_back(fmt::format("{}={}", grid_mode, coord));
  auto text = fmt::format("({})", fmt::join(modes, ","));
  if (!planes.empty()) text += fmt::format(" at {}", fmt::join(planes, ","));
  if (!distribution.summed_over.empty())
    text += fmt::format(" sum {}", fmt::join(distribution.summed_over, ","));
  return text;
}

std::string to_string(const NamedDistribution& named) {
  return fmt::format("{}[{}]{}", named.tensor, fmt::join(named.indices, ","), to_string(named.distribution));
}

NamedDistribution parse_distribution(std::string_view text) {
  const std::string dense = without_spaces(text);
  Scanner scan(dense);
  NamedDistribution named{scan.name(), {}, {}};
  if (scan.take("[")) {
    if (scan.at("(")) {
      named = parse_rote(scan);
    } else {
      const auto inside = scan.until(']');
      if (const auto elemental = as_elemental(inside); elemental && !scan.at("(")) {
        named.distribution = *elemental;
      } else {
        named.indices = split_indices(inside);
        parse_modes(scan, named.distribution);
      }
    }
  } else {
    parse_modes(scan, named.distribution);
  }
  parse_places(scan, named.distribution);
  if (!scan.at_end()) scan.fail("nothing more");
  if (!named.indices.empty() && named.indices.size() != named.distribution.modes.size())
    throw Error(Errc::bad_option, fmt::format("distribution '{}': {} indices, but {} modes", text,
                                              named.indices.size(), named.distribution.modes.size()));
  return named;
}

}  // namespace polyad::dense
