#pragma once

#include "polyad/comm/comm.hpp"

namespace polyad::cli {

constexpr int max_threads = 4096;

// Starts the threads of parallel regions: as many as asked for; with 0 as many as OMP_NUM_THREADS says, or
// the cores that this process is bound to, or an even share of the machine's cores. Throws Error{bad_option}
// for more than max_threads, and Error{resource} where the system cannot start so many (OpenMP and OpenBLAS
// would end the program themselves or wait for ever). Collective.
void start_threads(const Comm& comm, int wanted);

}  // namespace polyad::cli
