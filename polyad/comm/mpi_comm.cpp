#include "polyad/comm/mpi_comm.hpp"

#include <mutex>

#include "polyad/base/error.hpp"
#include "polyad/comm/comm_impl.hpp"
#include "polyad/comm/mpi_transfers.hpp"

namespace polyad {
namespace {

constinit const Comm* shown_world = nullptr;

// The info hints of the original, such as an assertion that no receive takes any tag, are promises of its
// owner and not ours: the duplicate has none.
MPI_Comm duplicate_of(MPI_Comm comm) {
  MPI_Comm copy = MPI_COMM_NULL;
  mpi::check(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &copy), "MPI_Comm_dup_with_info");
  mpi::check(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return copy;
}

bool is_running() {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

}  // namespace

Comm::Impl::Impl(MPI_Comm c) : comm(c) {
  mpi::check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  mpi::check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
}

Comm::Impl::~Impl() {
  if (is_running()) MPI_Comm_free(&comm);
}

std::shared_ptr<Comm::Impl> Comm::Impl::self() {
  static std::mutex mutex;
  static std::weak_ptr<Impl> shared;
  const std::scoped_lock lock(mutex);
  auto impl = shared.lock();
  if (impl) return impl;
  mpi::check_running();
  impl = std::make_shared<Impl>(duplicate_of(MPI_COMM_SELF));
  shared = impl;
  return impl;
}

std::shared_ptr<Comm::Impl> Comm::Impl::duplicate(MPI_Comm comm) {
  auto impl = std::make_shared<Impl>(duplicate_of(comm));
  impl->kept_self = self();
  return impl;
}

Comm Comm::world() {
  if (shown_world == nullptr)
    throw Error(Errc::internal,
                "Comm::world() needs a Runtime; a program that runs MPI itself passes a communicator to "
                "from_mpi()");
  return *shown_world;
}

Comm Comm::self() {
  return {Impl::self(), default_message_limit};
}

Comm from_mpi(MPI_Comm comm) {
  mpi::check_running();
  if (comm == MPI_COMM_NULL)
    throw Error(Errc::comm, "the communicator is MPI_COMM_NULL; expected one that this process belongs to");
  int is_inter = 0;
  mpi::check(MPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter");
  if (is_inter != 0)
    throw Error(Errc::comm, "the communicator is an intercommunicator; expected an intracommunicator");
  return MpiAccess::duplicate(comm);
}

void mpi::check_running() {
  if (!is_running())
    throw Error(Errc::comm, "MPI is not running: a communicator needs MPI_Init_thread first");
  int level = MPI_THREAD_SINGLE;
  check(MPI_Query_thread(&level), "MPI_Query_thread");
  if (level < MPI_THREAD_FUNNELED)
    throw Error(
        Errc::comm,
        "MPI was initialised for MPI_THREAD_SINGLE; Polyad uses threads and needs MPI_THREAD_FUNNELED or "
        "better, from MPI_Init_thread");
}

void mpi::set_world(const Comm* comm) noexcept {
  shown_world = comm;
}

}  // namespace polyad
