#pragma once

#include "polyad/base/machine_model.hpp"
#include "polyad/comm/comm.hpp"

namespace polyad {

// Measures what this machine takes, with all processes and threads at work: the kernels on tensors drawn for
// the purpose, messages around the ring of processes. Takes some seconds. What one process cannot measure,
// messages, stays as it is by default. The slowest process counts. Collective.
MachineModel calibrate(const Comm& comm);

}  // namespace polyad
