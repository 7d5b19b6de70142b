#pragma once

#include "polyad/base/gpu_model.hpp"
#include "polyad/base/types.hpp"

namespace polyad::gpu {

// Measures a GPU, which nobody else should use meanwhile: copies, passes over random nonzeros and updates of
// rows. Takes some seconds, most of them on the processor. Throws as make_passes does.
// divisor: of the numbers of nonzeros and rows, for tests.
GpuModel measure_gpu(int device, Index divisor = 1);

}  // namespace polyad::gpu
