#pragma once

// Functions that also kernels of GPUs call.
#ifdef __CUDACC__
#define POLYAD_ON_DEVICE __host__ __device__ __forceinline__
#define POLYAD_UNROLL _Pragma("unroll")
#else
#define POLYAD_ON_DEVICE inline
#define POLYAD_UNROLL
#endif
