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
  double first_step;    // to try
  double rounding;      // by about so much may values be wrong
  double ceiling;       // no value above is good, though it be by rounding
};

// A step that satisfies the strong Wolfe conditions: the value falls by a fair part of what the slope
// promises, and the slope flattens. Near a minimum, where the difference of two values is rounding, the
// slopes alone decide (the approximate Wolfe conditions of Hager and Zhang, SIAM J. Optim. 16, 2005). What is
// not finite lies too far. `evaluate` is called last with the step that is returned. Nothing when no step was
// found that is better than none: the slope is then wrong, or rounding.
std::optional<LineSearchPoint> line_search(const LineSearchStart& start,
                                           const std::function<LineSearchPoint(double)>& evaluate);

}  // namespace polyad
