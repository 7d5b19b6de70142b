#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "polyad/tasks/completion_model.hpp"
#include "polyad/tasks/option_values.hpp"

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

// --cache, of every command that caches partitions.
void add_cache_option(CLI::App& command, std::string& folder);

// What the command line calls a field of an options struct of the library: "max_memory_bytes" is --memory.
std::string command_line_name(const std::string& field);

// auto, ranking or ratings.
void add_lists_option(CLI::App& command, std::string& lists, const std::string& help);
void add_new_items_option(CLI::App& command, std::string& file);
ListsBy parse_lists(const std::string& lists);

// What is wrong with the text of an option, for CLI::Option::check; empty: nothing. The first two are for
// numbers whose range is checked besides: nan lies in every range, -1 becomes a large seed.
std::string fault_of_real(const std::string& text);
std::string fault_of_seed(const std::string& text);
// Throws as parse_bytes does: for --memory, where an empty text would else mean that it was not given.
std::string fault_of_memory(const std::string& text);

}  // namespace polyad::cli
