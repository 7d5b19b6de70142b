#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "polyad/tensor/ratings/ranking_metrics.hpp"

namespace polyad::report {

nlohmann::ordered_json ranking_json(const RankingMetrics& ranking);

// The figures of the model and of popularity, in lines; requires users.
std::string ranking_text(const RankingMetrics& ranking);
// The same as HTML.
std::string ranking_html(const RankingMetrics& ranking);

// A sentence, where lists of what most users rate are better than those of the model.
std::optional<std::string> below_popularity(const RankingMetrics& ranking);

}  // namespace polyad::report
