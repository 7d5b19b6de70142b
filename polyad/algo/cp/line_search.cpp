#include "polyad/algo/cp/line_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace polyad {
namespace {

constexpr double fair_part = 0.1, flat_part = 0.9;  // delta and sigma of the Wolfe conditions
constexpr int max_evaluations = 25;

bool is_finite(const LineSearchPoint& p) {
  return std::isfinite(p.value) && std::isfinite(p.slope);
}

// A bracket [low, high] around a step to be found: `low` is good but for its slope, which is too steep;
// `high` is beyond, because the function rises there, has fallen too little, or is not finite.
class Bracket {
 public:
  explicit Bracket(const LineSearchStart& start)
      : start_(start), low_{0, start.value, start.slope}, before_(low_) {}

  bool accepts(const LineSearchPoint& p) const {
    return is_low(p) && std::abs(p.slope) <= -flat_part * start_.slope;
  }

  void add(const LineSearchPoint& p) {
    const double width = has_high_ ? high_.step - low_.step : 0;
    if (is_low(p) && p.slope < 0)
      before_ = std::exchange(low_, p);
    else
      high_ = p, has_high_ = true;
    shrinks_ = width == 0 || high_.step - low_.step < 0.66 * width;
  }

  double next_step() const {
    if (!has_high_) return farther();
    const double width = high_.step - low_.step;
    if (!is_finite(high_)) return low_.step + 0.1 * width;
    if (!is_low(high_)) return low_.step + std::clamp(parabola(), 0.02, 0.5) * width;
    if (!shrinks_) return low_.step + 0.5 * width;
    const double secant = low_.slope / (low_.slope - high_.slope);  // where a straight slope would be zero
    return low_.step + std::clamp(secant, 0.02, 0.98) * width;
  }

  const LineSearchPoint& low() const { return low_; }

 private:
  // Whether the value is good: has fallen enough or, where that cannot be told from rounding, the slope says
  // so.
  bool is_low(const LineSearchPoint& p) const {
    if (!is_finite(p)) return false;
    const double min_fall = -fair_part * p.step * start_.slope;
    if (p.value <= start_.value - min_fall) return true;
    return min_fall <= 2 * start_.rounding && p.value <= start_.ceiling &&
           p.slope <= (2 * fair_part - 1) * start_.slope;
  }

  // Where in the bracket a parabola through both values, with the slope of `low`, has its minimum.
  double parabola() const {
    const double promised = -low_.slope * (high_.step - low_.step);
    return promised / (2 * (high_.value - low_.value + promised));
  }

  // Beyond `low`: where the slope would be zero if it went on straight, within bounds.
  double farther() const {
    const double flattening = low_.slope - before_.slope;
    const double secant = flattening > 0 ? -low_.slope * (low_.step - before_.step) / flattening : HUGE_VAL;
    return low_.step + std::clamp(secant, low_.step, 9 * low_.step);
  }

  LineSearchStart start_;
  LineSearchPoint low_, before_;
  LineSearchPoint high_{};
  bool has_high_ = false;
  bool shrinks_ = true;
};

}  // namespace

std::optional<LineSearchPoint> line_search(const LineSearchStart& start,
                                           const std::function<LineSearchPoint(double)>& evaluate) {
  Bracket bracket(start);
  double step = start.first_step;
  for (int evaluations = 0; evaluations < max_evaluations; ++evaluations) {
    const auto point = evaluate(step);
    if (bracket.accepts(point)) return point;
    bracket.add(point);
    step = bracket.next_step();
  }
  if (bracket.low().step == 0 || bracket.low().value >= start.value) return {};
  return evaluate(bracket.low().step);
}

}  // namespace polyad
