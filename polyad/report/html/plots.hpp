#pragma once

#include <functional>
#include <span>
#include <string>

#include "polyad/report/component_summary.hpp"

namespace polyad::report {

// Drawings for the page, as inline SVG. Positions are percentages of a box that the style sheet sizes, so
// curves and bars stretch to any width while text and strokes keep their size.

// The fit over the iterations, with axes.
std::string convergence_plot(std::span<const double> fit_trajectory);
// A bar per component, with axes; components with a place on the page (#component-1, ...) are links.
std::string weight_plot(std::span<const SummarisedComponent> components, Index num_links);
// The text of an index of a mode.
using LabelOf = std::function<std::string(Index)>;
// One mode of a component along its scale; the strongest entry is marked. At most `max_texts` points have a
// text with label and value.
std::string line_plot(const SummarisedMode& mode, const ComponentMode& column, const LabelOf& label_of,
                      Index max_texts);
// A thin bar, filled for positive values and hollow for negative ones. It decorates a number in words.
std::string value_bar(double value, double largest);
// A whole of which a fraction is filled.
std::string share_bar(double fraction, const std::string& description);

}  // namespace polyad::report
