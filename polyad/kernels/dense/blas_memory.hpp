#pragma once

namespace polyad::kernels {

// OpenBLAS works in a buffer of 32 MiB per thread, which it allocates when it first needs it and keeps; where
// there is no memory for it, it tries for ever. This asks the system first, and throws Error{resource} where
// it refuses.

// The buffer of the calling thread, which is allocated here.
void reserve_blas_buffer();

// Whether further threads of BLAS, or callers at once, would find the memory for their buffers and stacks.
void check_blas_memory(int num_threads);

}  // namespace polyad::kernels
