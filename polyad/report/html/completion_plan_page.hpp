#pragma once

#include <string>

#include "polyad/report/completion_plan_report.hpp"
#include "polyad/report/html/run_record.hpp"

namespace polyad::report {

// One HTML file about the plan of a completion that needs nothing else: no network, no script. It is
// well-formed XML too.
std::string completion_plan_page(const CompletionPlanRun& run, const RunRecord& record);

}  // namespace polyad::report
