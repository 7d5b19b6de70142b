#pragma once

namespace polyad::kernels {

// OpenBLAS allocates a buffer of 32 to 128 MiB of address space per thread on first use and keeps it; if
// there is no memory, it retries forever. These functions ask the system first, and throw Error{resource} if
// it refuses.

// Allocates the buffer of the calling thread.
void reserve_blas_buffer();

// Whether there is memory for the buffers and stacks of further threads of BLAS, or of concurrent callers.
void check_blas_memory(int num_threads);

}  // namespace polyad::kernels
