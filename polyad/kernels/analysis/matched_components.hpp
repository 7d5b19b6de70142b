#pragma once

#include <vector>

#include "polyad/base/types.hpp"

namespace polyad {

// A component of one model and the component of another model that it is paired with.
struct MatchedComponents {
  Index first = 0, second = 0;  // numbers of the components, from 0
  // Product over the modes of the magnitudes of the cosines: 1 for the same component, up to signs and scale.
  double congruence = 0;
  // [mode]: cosine of the angle between the columns of the two factors. 0 where a column is zero.
  std::vector<double> cosines = {};
};

}  // namespace polyad
