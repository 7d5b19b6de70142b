#pragma once

#include <span>

#include "polyad/base/gpu_model.hpp"
#include "polyad/plan/als_cost.hpp"

namespace polyad {

struct GpuRowSize {
  Index num_components, value_bytes;
};

// Predicted time of the update of a mode on a GPU, in seconds: the pass over the nonzeros of a tree with the
// mode at its root, and the update of its rows.
double gpu_mode_seconds(const TensorShape& shape, std::span<const int> tree, const GpuRowSize& row,
                        const GpuModel& gpu);

}  // namespace polyad
