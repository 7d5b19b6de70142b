#pragma once

#include <vector>

#include "polyad/base/types.hpp"

namespace polyad {

// A place where a model is far from a value.
struct LargeResidual {
  std::vector<Index> coordinate;  // from 0
  double prediction = 0, value = 0;
  double residual = 0;  // value - prediction
};

}  // namespace polyad
