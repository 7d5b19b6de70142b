#pragma once

#include "polyad/base/call_ref.hpp"
#include "polyad/base/types.hpp"

namespace polyad::gpu {

// Throws Error{bad_option} for a GPU that is not there or that this program has no kernels for.
void check_device(int device);

// What a decomposition takes of the memory of a GPU, as a function of the number of components and the bytes
// of a number.
using BytesOnDevice = CallRef<Index(Index num_components, Index value_bytes)>;

// The same, and throws Error{resource} for a GPU with less free memory than is needed: the message says what
// would fit. Before anything is allocated.
void check_device(int device, Index num_components, Index value_bytes, BytesOnDevice bytes);

}  // namespace polyad::gpu
