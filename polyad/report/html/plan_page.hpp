#pragma once

#include <string>
#include <string_view>

#include "polyad/report/html/run_record.hpp"
#include "polyad/report/plan_report.hpp"

namespace polyad::report {

// One HTML file about a plan that needs nothing else: no network, no script. It is well-formed XML too. Of
// each number of processes it has what is worth showing; the JSON has all.
std::string plan_page(const PlanRun& run, const RunRecord& record);

// What the style of all pages does not have: several curves in a plot, stacked bars, wide tables. The page of
// a completion has them too.
std::string_view plan_page_style();

}  // namespace polyad::report
