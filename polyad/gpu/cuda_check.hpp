#pragma once

#include <cuda_runtime.h>

namespace polyad::gpu {

// Throws Error{resource} for a call that failed, which did what `what` says.
void check(cudaError_t status, const char* what);
// The same for the start of a kernel.
void check_start(const char* what);

}  // namespace polyad::gpu
