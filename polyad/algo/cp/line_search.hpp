#pragma once

#include <functional>
#include <optional>

namespace polyad {

// The function of one variable that a line search minimises, evaluated at one step.
struct LineSearchPoint {
  double step, value, slope;
};

struct LineSearchStart {
  double value, slope;  // at step 0; the slope is negative
  double first_step;    // first step to try
  double rounding;      // estimated rounding error of values
  double ceiling;       // values above are rejected, even if within rounding
};

// Finds a step that satisfies the strong Wolfe conditions: sufficient decrease and curvature.
// Near a minimum, where differences of values are below rounding, only slopes are used (the
// approximate Wolfe conditions of Hager and Zhang 2005; docs/algorithms.md). Points that are
// not finite count as too far. The last call of `evaluate` is for the step that is returned.
// Nothing if no step improves on 0: the slope is then wrong, or below rounding.
std::optional<LineSearchPoint> line_search(const LineSearchStart& start,
                                           const std::function<LineSearchPoint(double)>& evaluate);

}  // namespace polyad
