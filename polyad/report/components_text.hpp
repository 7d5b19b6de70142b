#pragma once

#include <string>

#include "polyad/report/component_summary.hpp"

namespace polyad::report {

// The strongest entries of the components for a terminal of this width:
// a table per component with a column per mode. Says what is omitted.
std::string components_text(const ComponentSummary& summary, int width = 100, Index max_components = 10,
                            Index max_entries = 5);

}  // namespace polyad::report
