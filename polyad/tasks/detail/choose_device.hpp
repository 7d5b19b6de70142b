#pragma once

#include <optional>

#include "polyad/comm/comm.hpp"
#include "polyad/tasks/decompose.hpp"

namespace polyad::tasks {

// Throws Error{bad_option} for a GPU that is not there, and for one together with what it cannot do.
void check_device(const DecomposeOptions& options);

// The GPU that this process computes on; nothing: on the processor. Throws Error{bad_option} for a tensor of
// more modes than the GPU that was asked for can do. The options were checked.
std::optional<int> choose_gpu(const Comm& comm, const SparseTensor<double>& share,
                              const DecomposeOptions& options);

}  // namespace polyad::tasks
