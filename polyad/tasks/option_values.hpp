#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "polyad/base/types.hpp"
#include "polyad/comm/process_grid.hpp"

namespace polyad {

// Values of options as people write them, for interfaces that take them as texts. All but the first two throw
// Error{bad_option} for nonsense; `option` is what the interface calls the option.

// A whole number, also as in 1e3 or 12.0; nothing for any other text.
std::optional<Index> parse_whole_number(std::string_view text);

// "2,1,3", from 1 as in files; -1 for what is no mode.
std::vector<int> parse_modes(const std::string& text);

// "auto", "natural" or "2,1,3", modes counted from 1. auto is empty.
std::vector<int> parse_mode_order(const std::string& text, int order);

// "all", "none" or "1,3", modes counted from 1. none is empty.
std::vector<bool> parse_nonneg(const std::string& text, int order);

// "1-8", "1,2,4,8" or "1-4,8": numbers from 1 to `largest`, ascending, each once and at most `most` of them.
std::vector<Index> parse_numbers(const std::string& text, const std::string& option, Index largest,
                                 Index most);

// "800MB", "2.5GB", "1000000": bytes, with or without a unit.
Index parse_bytes(const std::string& text, const std::string& option);

// "30x24x659" or "30,24,659": whole numbers from 1 on. `example` is for messages.
std::vector<Index> parse_dims(const std::string& text, const std::string& option,
                              const char* example = "30x24x659");
// The same for a grid of processes.
GridShape parse_grid_shape(const std::string& text);

}  // namespace polyad
