#pragma once

#include "polyad/base/types.hpp"

namespace polyad::gpu {

// Before anything is allocated. Throws Error{bad_option} for a GPU that is not there or that this program has
// no kernels for, and Error{resource} for one with less free memory.
void check_device(int device, Index bytes);

}  // namespace polyad::gpu
