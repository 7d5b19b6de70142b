#pragma once

// The C++ bindings, which MPI 3 removed, cause warnings.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include "polyad/comm/comm.hpp"

namespace polyad {

// A communicator of the processes of `comm`, with the same ranks, for a program that uses MPI itself. It is a
// duplicate: messages of Polyad never match receives of the program and vice versa, whatever their tags. Its
// error handler is MPI_ERRORS_RETURN, its errors are Error{comm}; the error handlers of the program's own
// communicators stay as they are. It is freed with the last copy of the Comm, which is a collective operation
// for MPI: let the last copies on all processes go in the same order relative to those of other
// communicators, and before MPI_Finalize (later, nothing is freed). Needs no Runtime. Collective over `comm`.
//
// Throws Error{comm} if MPI is not running or was initialised with less than MPI_THREAD_FUNNELED, for
// MPI_COMM_NULL, and for an intercommunicator.
Comm from_mpi(MPI_Comm comm);

}  // namespace polyad
