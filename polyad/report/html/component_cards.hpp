#pragma once

#include <span>
#include <string>
#include <string_view>

#include "polyad/report/component_summary.hpp"

namespace polyad::report {

// How many components get a card with plots; the fewer the more modes there are to plot.
Index num_cards(const ComponentSummary& summary);
// The cards, and a table of those components that get none. `labels` may have fewer modes than the summary.
std::string component_cards(const ComponentSummary& summary, std::span<const ModeLabels> labels);

std::string_view cpd_page_style();

}  // namespace polyad::report
