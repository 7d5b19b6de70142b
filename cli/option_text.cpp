#include "cli/option_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <numeric>
#include <utility>

#include "polyad/base/error.hpp"

namespace polyad::cli {

void add_cache_option(CLI::App& command, std::string& folder) {
  command.add_option("--cache", folder,
                     "The folder where partitions of hypergraphs are cached (else polyad/partitions in "
                     "$XDG_CACHE_HOME or ~/.cache)");
}

std::string command_line_name(const std::string& field) {
  static const std::map<std::string, std::string> others{{"max_memory_bytes", "memory"},
                                                         {"max_iterations", "iters"},
                                                         {"tolerance", "tol"},
                                                         {"nonnegative", "nonneg"},
                                                         {"scheme", "distribution"},
                                                         {"num_free_primes", "grid-primes"},
                                                         {"row_rule", "row-owners"},
                                                         {"is_replicated", "replicate"},
                                                         {"partition_file", "partition"},
                                                         {"factors", "rank"},
                                                         {"max_epochs", "epochs"},
                                                         {"virtual_processes", "virtual"},
                                                         {"learning_rate", "lr"},
                                                         {"regularisation", "reg"},
                                                         {"shrinkage", "shrink"},
                                                         {"users", "user"},
                                                         {"all_users", "all"},
                                                         {"new_user", "ratings"},
                                                         {"slice_weights", "weights"},
                                                         {"effort", "level"},
                                                         {"time_limit_seconds", "time"},
                                                         {"previous_file", "refine"},
                                                         {"previous_dims", "refine-dims"},
                                                         {"num_largest", "top"},
                                                         {"num_lines", "lines"},
                                                         {"entries_per_mode", "top"},
                                                         {"ranks", "components"},
                                                         {"num_starts", "starts"},
                                                         {"start", "init"},
                                                         {"held_out", "holdout"},
                                                         {"nonnegative_modes", "nonneg"},
                                                         {"existing=replaced", "force"},
                                                         {"header=false", "no-header"},
                                                         {"header=true", "header"},
                                                         {"LoadOptions::format", "input-format"},
                                                         {"missing", "missing-value"},
                                                         {"DecomposeOptions::missing", "missing"},
                                                         {"labels.none", "labels none"},
                                                         {"labels.folder", "labels"},
                                                         {"labels.files", "labels"}};
  const auto other = others.find(field);
  std::string name = "--" + (other == others.end() ? field : other->second);
  std::ranges::replace(name, '_', '-');
  return name;
}

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
                fmt::format("--mode-order {}: expected auto, natural or each of 1 to {} once, as in {}", text,
                            order, order == 2 ? "2,1" : "2,1,3"));
  return modes;
}

std::vector<bool> parse_nonneg(const std::string& text, int order) {
  if (text == "none") return {};
  std::vector<bool> modes(std::size_t(order), text == "all");
  if (text == "all") return modes;
  for (const int mode : parse_modes(text)) {
    if (mode < 0 || mode >= order || modes[mode])
      throw Error(Errc::bad_option,
                  fmt::format("--nonneg={}: expected modes from 1 to {}, as in --nonneg=1,3", text, order));
    modes[mode] = true;
  }
  return modes;
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

// What is no number at all, CLI11 refuses.
std::string fault_of_real(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);  // as CLI11 reads it
  const bool is_number = end == text.c_str() + text.size();
  return is_number && !std::isfinite(number) ? fmt::format("expected a finite number, not '{}'", text) : "";
}

std::string fault_of_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error == std::errc() && end == text.data() + text.size()) return "";
  return fmt::format("expected a whole number from 0 to 2^64 - 1, not '{}'", text);
}

std::string fault_of_memory(const std::string& text) {
  parse_bytes(text, "--memory");
  return "";
}

}  // namespace polyad::cli
