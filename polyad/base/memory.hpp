#pragma once

#include "polyad/base/types.hpp"

namespace polyad {

// The most memory that this process has had resident, in bytes.
Index peak_memory_bytes();

// The memory that this process has resident now, in bytes; 0 where the system does not say.
Index resident_memory_bytes();

// Gives back to the system what was freed, of which the C library keeps some for later.
void trim_memory();

// Records that the memory resident now is that of the program and its libraries; called once MPI has started.
void note_program_memory();
// The memory of the program and its libraries without any data, in bytes, for predictions: what was recorded
// with an allowance for what MPI adds later, and at least the 32 MiB that are usual.
Index program_bytes();

// The machine's memory and what of it could still be taken, in bytes; 0 where the system does not say.
struct MachineMemory {
  Index total = 0, available = 0;
};
MachineMemory machine_memory();
// The machine's memory; where the system does not say, what a process can address.
Index memory_to_plan_with();

}  // namespace polyad
