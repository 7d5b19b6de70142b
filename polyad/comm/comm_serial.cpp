// What mpi_comm.cpp and runtime_mpi.cpp have, for builds and tests without MPI.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "polyad/comm/comm.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/comm/transport.hpp"

namespace polyad {

// Shared by all callers in one thread, as in MPI: a message sent on one is received on another.
// Threads that compute independently of each other do not meet.
Comm Comm::world() {
  static thread_local const auto impl = std::make_shared<Impl>(make_serial_transport());
  return {impl, default_message_limit};
}

Comm Comm::self() {
  static thread_local const auto impl = std::make_shared<Impl>(make_serial_transport());
  return {impl, default_message_limit};
}

// A single process never waits.
struct Runtime::State {};
void Runtime::watch(double) {}
OneProcessWorks::OneProcessWorks() noexcept {}  // NOLINT(*-equals-default): comm_mpi.cpp has one
OneProcessWorks::~OneProcessWorks() {}  // NOLINT(*-equals-default, performance-trivially-destructible)

Runtime::Runtime(int&, char**&) {}
Runtime::~Runtime() {}  // NOLINT(*-equals-default, performance-trivially-destructible): comm_mpi.cpp has one

void Runtime::abort(int exit_code) const {
  std::fflush(nullptr);
  std::_Exit(exit_code);
}

std::string mpi_description() {
  return "none (one-process build)";
}

}  // namespace polyad
