#include "polyad/tasks/detail/json_text.hpp"

#include <nlohmann/json.hpp>

namespace polyad::tasks {

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void add_seconds(nlohmann::ordered_json& json, const Timings& timings) {
  for (const auto& [phase, seconds] : timings.phases()) json["seconds"][phase] = seconds;
}

}  // namespace polyad::tasks
