#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad::cli {

// Numbers from `least` to `most`, for CLI::Option::check. As CLI::Range, whose words differ between versions
// of CLI11.
template <class Number>
CLI::Validator in_range(Number least, Number most) {
  const auto check = [least, most](const std::string& text) {
    Number number{};
    const bool is_in = CLI::detail::lexical_cast(text, number) && !(number < least) && !(number > most);
    return is_in ? "" : fmt::format("Value {} not in range {} to {}", text, least, most);
  };
  return {check, fmt::format("{} in [{} - {}]", CLI::detail::type_name<Number>(), least, most)};
}

// The names of enumerators on the command line, for CLI::IsMember; and the enumerator with a name that is one
// of them.
template <class Enums>
std::vector<std::string> names_of(const Enums& all) {
  std::vector<std::string> names;
  for (const auto one : all) names.push_back(to_string(one));
  return names;
}
template <class Enums>
auto named(const std::string& name, const Enums& all) {
  for (const auto one : all)
    if (to_string(one) == name) return one;
  return *all.begin();
}

// --cache, of every command that caches partitions.
void add_cache_option(CLI::App& command, std::string& folder);

// What the command line calls a field of an options struct of the library: "max_memory_bytes" is --memory.
std::string command_line_name(const std::string& field);

// A whole number, also as in 1e3 or 12.0; nothing for any other text.
std::optional<Index> parse_whole_number(std::string_view text);

// "2,1,3", from 1 as in files; -1 for what is no mode.
std::vector<int> parse_modes(const std::string& text);

// What the texts of options mean that several commands have. All throw Error{bad_option} for nonsense.

// "auto", "natural" or "2,1,3", modes counted from 1. auto is empty.
std::vector<int> parse_mode_order(const std::string& text, int order);

// "all", "none" or "1,3", modes counted from 1. none is empty.
std::vector<bool> parse_nonneg(const std::string& text, int order);

// "1-8", "1,2,4,8" or "1-4,8": numbers from 1 to `largest`, ascending, each once and at most `most` of them.
std::vector<Index> parse_numbers(const std::string& text, const std::string& option, Index largest,
                                 Index most);

// "800MB", "2.5GB", "1000000": bytes, with or without a unit.
Index parse_bytes(const std::string& text, const std::string& option);

// What is wrong with the text of an option, for CLI::Option::check; empty: nothing. The first two are for
// numbers whose range is checked besides: nan lies in every range, -1 becomes a large seed.
std::string fault_of_real(const std::string& text);
std::string fault_of_seed(const std::string& text);
// Throws as parse_bytes does: for --memory, where an empty text would else mean that it was not given.
std::string fault_of_memory(const std::string& text);

}  // namespace polyad::cli
