#include "polyad/comm/mpi_comm.hpp"

#include <mutex>

#include "polyad/base/error.hpp"
#include "polyad/comm/mpi_transport.hpp"

namespace polyad {
namespace {

constinit const Comm* shown_world = nullptr;

}  // namespace

Comm Comm::world() {
  if (shown_world == nullptr)
    throw Error(Errc::internal,
                "Comm::world() needs a Runtime; a program that runs MPI itself passes a communicator to "
                "from_mpi()");
  return *shown_world;
}

// Shared by all that ask for it; made when nobody has it.
Comm Comm::self() {
  static std::mutex mutex;
  static std::weak_ptr<Impl> shared;
  const std::scoped_lock lock(mutex);
  auto impl = shared.lock();
  if (!impl) {
    mpi::check_running();
    impl = std::make_shared<Impl>(mpi::duplicate(MPI_COMM_SELF));
    shared = impl;
  }
  return {impl, default_message_limit};
}

// It keeps Comm::self() alive, so that this costs nothing.
Comm from_mpi(MPI_Comm comm) {
  mpi::check_usable(comm);
  auto transport = mpi::duplicate(comm);
  return MpiAccess::make(std::move(transport), std::make_shared<const Comm>(Comm::self()));
}

void mpi::set_world(const Comm* comm) noexcept {
  shown_world = comm;
}

}  // namespace polyad
