#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "polyad/algo/ratings/search_trial.hpp"

namespace polyad::report {

// "32 factors, regularisation 0.05, learning rate 0.05".
std::string settings_text(const SearchTrial& trial);
// The line that is printed after a trial.
std::string trial_text(const SearchTrial& trial);
// Which of the trials was chosen, in a sentence; requires one.
std::string search_text(std::span<const SearchTrial> trials);
// The list `search` of `polyad complete --search`; docs/json.md names its keys.
nlohmann::ordered_json search_json(std::span<const SearchTrial> trials);

}  // namespace polyad::report
