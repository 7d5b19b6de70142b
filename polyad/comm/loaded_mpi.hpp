#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "polyad/comm/comm.hpp"

namespace polyad {

// An MPI that another part of the program has loaded and started, such as mpi4py: Open MPI, MPICH or any
// other. Nothing of it is known when Polyad is compiled. Functions are looked up by name; what is a constant
// of mpi.h is asked for.
struct LoadedMpi {
  // A shared library that is loaded already: MPI itself, or one that is linked with it.
  std::string library;
  // Whether handles, such as MPI_Comm, are int, as in MPICH; else they are pointers.
  bool has_int_handles = false;
  // The value of a constant of mpi.h by its name: a handle, as "MPI_COMM_NULL", or a number, as
  // "MPI_COMM_TYPE_SHARED".
  std::function<std::uint64_t(const std::string&)> constant;
};

// What from_mpi (mpi_comm.hpp) does, for the handle of a communicator of that MPI. There is one in a program:
// that of the first call. Throws Error{comm} where a function is missing, and as from_mpi does. Collective
// over the communicator.
Comm from_loaded_mpi(const LoadedMpi& mpi, std::uint64_t handle);

}  // namespace polyad
