#pragma once

#include "polyad/base/types.hpp"

namespace polyad {

// Peak resident memory of this process, in bytes.
Index peak_memory_bytes();

// Current resident memory of this process, in bytes; 0 if the system does not report it.
Index resident_memory_bytes();

// Returns freed memory that the C library keeps to the system.
void trim_memory();

// Records the current resident memory as that of the program and its libraries; called after MPI has started.
void note_program_memory();
// The memory of the program and its libraries without any data, in bytes, for predictions: what was recorded
// with an allowance for what MPI adds later, and at least the 32 MiB that are usual.
Index program_bytes();

// Memory of the machine and what of it is available, in bytes; 0 if the system does not report it.
struct MachineMemory {
  Index total = 0, available = 0;
};
MachineMemory machine_memory();
// What this process could still get, by the machine and by the limit of its address space (ulimit -v), in
// bytes; 0 if the system does not report it.
Index free_memory_bytes();
// Memory of the machine; if the system does not report it, what a process can address.
Index memory_to_plan_with();

}  // namespace polyad
