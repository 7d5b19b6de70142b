#pragma once

#include <string>
#include <vector>

#include "polyad/comm/comm.hpp"
#include "polyad/report/recommendation_report.hpp"

namespace polyad::tasks {

// The texts of process 0, on all. Collective.
void share_texts(const Comm& comm, std::vector<std::string>& texts);

// The answer of process 0, on all. Collective.
void share_answer(const Comm& comm, report::RecommendationRun& run);

}  // namespace polyad::tasks
