#pragma once
// Private to the files of comm/ that use MPI.

#include <memory>

#include "polyad/comm/comm.hpp"
#include "polyad/comm/mpi_comm.hpp"

namespace polyad {

// The owner of an MPI communicator: frees it, unless MPI is finalised already.
struct Comm::Impl {
  explicit Impl(MPI_Comm comm);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  // Shared by all that ask for Comm::self(); made when nobody has it.
  static std::shared_ptr<Impl> self();
  // A duplicate of a communicator that MPI or the host owns, with MPI_ERRORS_RETURN as its error handler. It
  // keeps self() alive, so that Comm::self() costs nothing. Collective.
  static std::shared_ptr<Impl> duplicate(MPI_Comm comm);

  MPI_Comm comm;
  int rank = 0, size = 1;
  std::shared_ptr<Impl> kept_self;
};

// What the other files of comm/ may do with the inside of a Comm.
struct MpiAccess {
  static Comm duplicate(MPI_Comm comm) { return {Comm::Impl::duplicate(comm), Comm::default_message_limit}; }
  static MPI_Comm mpi_comm(const Comm& comm) { return comm.impl_->comm; }
};

namespace mpi {

// Throws Error{comm} unless MPI runs, with MPI_THREAD_FUNNELED or better.
void check_running();

// Makes `comm` what Comm::world() returns, or nothing.
void set_world(const Comm* comm) noexcept;

}  // namespace mpi
}  // namespace polyad
