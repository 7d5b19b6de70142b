#pragma once

#include "polyad/base/machine_model.hpp"
#include "polyad/comm/comm.hpp"

namespace polyad {

// Measures the constants of the cost model with all processes and threads busy: kernels on random
// tensors, and messages around a ring of processes. Takes a few seconds. On one process the
// constants of messages keep their defaults. Returns the values of the slowest process. Collective.
MachineModel calibrate(const Comm& comm);

}  // namespace polyad
