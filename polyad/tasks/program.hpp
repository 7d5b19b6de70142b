#pragma once

#include "polyad/comm/comm.hpp"

namespace polyad {

// What a program of its own does at its start, after it has constructed a Runtime. A host program that calls
// tasks as a library needs none of these.

// The largest number of threads per process.
inline constexpr int max_threads = 4096;

// Throws Error{bad_option} on all processes when they run different versions of Polyad or were started with
// different arguments; otherwise they would wait for each other without end. Call it before anything else
// that communicates. Collective.
void require_same_command(const Comm& comm, int argc, const char* const* argv);

// Seconds until a process that does not answer ends the run, as the environment variable POLYAD_TIMEOUT says;
// 0: never. 600 where it says nothing. Throws Error{bad_option} where it is no such number.
double timeout_setting();

// Starts the threads of parallel regions: `threads` per process; with 0 as many as OMP_NUM_THREADS says, or
// one per core that this process is bound to, or an even share of the cores of this machine. Throws
// Error{bad_option} for more than max_threads, and Error{resource} where the system cannot start so many
// (OpenMP and OpenBLAS would end the program themselves or wait without end). Collective.
void start_threads(const Comm& comm, int threads);

}  // namespace polyad
