#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "polyad/base/types.hpp"
#include "polyad/comm/process_grid.hpp"

namespace polyad {

// Values of options as people write them, for interfaces that take them as texts. Those with a message throw
// Error{bad_option} for nonsense; `option` is what the interface calls the option.

// The names of enumerators, as to_string has them; and the enumerator with a name, the first for any other
// text.
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

// A whole number, also as in 1e3 or 12.0; nothing for any other text.
std::optional<Index> parse_whole_number(std::string_view text);

// "2,1,3", from 1 as in files; -1 for what is no mode.
std::vector<int> parse_modes(const std::string& text);

// "auto", "natural" or "2,1,3", modes counted from 1. auto is empty.
std::vector<int> parse_mode_order(const std::string& text, int order);

// "all", "none" or "1,3", modes counted from 1. none is empty.
std::vector<bool> parse_nonneg(const std::string& text, int order);

// The path of the model that a text names as a start, which exists; empty for a name of all_starts.
std::string start_model_path(const std::string& text);

// "1-8", "1,2,4,8" or "1-4,8": numbers from 1 to `largest`, ascending, each once and at most `most` of them.
std::vector<Index> parse_numbers(const std::string& text, const std::string& option, Index largest,
                                 Index most);

// "800MB", "2.5GB", "1000000": bytes, with or without a unit.
Index parse_bytes(const std::string& text, const std::string& option);

// "90s", "10min", "1h50m", "2d" or a number of seconds: seconds, more than 0.
double parse_duration(const std::string& text, const std::string& option);

// "30x24x659" or "30,24,659": whole numbers from 1 on. `example` is for messages.
std::vector<Index> parse_dims(const std::string& text, const std::string& option,
                              const char* example = "30x24x659");
// The same for a grid of processes.
GridShape parse_grid_shape(const std::string& text);

}  // namespace polyad
