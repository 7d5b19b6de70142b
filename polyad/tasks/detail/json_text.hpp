#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "polyad/base/timings.hpp"

namespace polyad::tasks {

// JSON as results show it: indented by two, with bytes that are no UTF-8 replaced.
std::string json_text(const nlohmann::ordered_json& json);

// Adds the key "seconds" with the time of each phase.
void add_seconds(nlohmann::ordered_json& json, const Timings& timings);

}  // namespace polyad::tasks
