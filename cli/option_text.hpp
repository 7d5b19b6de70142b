#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "polyad/tasks/checkpoint.hpp"
#include "polyad/tasks/completion_model.hpp"
#include "polyad/tasks/option_values.hpp"

namespace polyad::cli {

// Numbers from `least` to `most`, for CLI::Option::check. As CLI::Range, whose words differ between versions
// of CLI11.
template <class Number>
CLI::Validator in_range(Number least, Number most) {
  const auto check = [least, most](const std::string& text) {
    Number number{};
    if (!CLI::detail::lexical_cast(text, number))
      return fmt::format("'{}' is no {}; expected one from {} to {}", text,
                         std::is_integral_v<Number> ? "whole number" : "number", least, most);
    const bool is_in = !(number < least) && !(number > most);
    return is_in ? "" : fmt::format("Value {} not in range {} to {}", text, least, most);
  };
  return {check, fmt::format("{} in [{} - {}]", CLI::detail::type_name<Number>(), least, most)};
}

// Finite numbers above 0, or from 0 on, for CLI::Option::check.
CLI::Validator above_zero();
CLI::Validator from_zero();

// --cache, of every command that caches partitions.
void add_cache_option(CLI::App& command, std::string& folder);

void add_seed_option(CLI::App& command, std::uint64_t& seed, const std::string& help);
void add_memory_option(CLI::App& command, std::string& memory, const std::string& help);

// --checkpoint and its like, of every command that keeps its state, and --time-limit.
struct CheckpointTexts {
  std::string directory, every = "10min", time_limit;
  int keep = CheckpointOptions{}.keep;
};
void add_checkpoint_options(CLI::App& command, CheckpointTexts& texts);
template <class Options>
void parse_checkpoints(const CheckpointTexts& texts, Options& options) {
  if (!texts.directory.empty())
    options.checkpoint = parse_checkpoint(texts.directory, texts.every, texts.keep);
  if (!texts.time_limit.empty()) options.max_seconds = parse_duration(texts.time_limit, "--time-limit");
}

// What the command line calls a field of an options struct of the library: "max_memory_bytes" is --memory.
std::string command_line_name(const std::string& field);

// auto, ranking or ratings.
void add_lists_option(CLI::App& command, std::string& lists, const std::string& help);
void add_new_items_option(CLI::App& command, std::string& file);
ListsBy parse_lists(const std::string& lists);

// What is wrong with the text of an option, for CLI::Option::check; empty: nothing. For numbers
// whose range is checked besides: nan lies in every range.
std::string fault_of_real(const std::string& text);
}  // namespace polyad::cli
