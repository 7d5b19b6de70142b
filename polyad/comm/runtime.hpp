#pragma once

#include <memory>
#include <string>

namespace polyad {

// Initialises and finalises MPI. Construct one in main before anything else; Comm::world() requires it. If
// MPI is already initialised, because Polyad is used within another program, it is not finalised, the error
// handlers of MPI_COMM_WORLD and MPI_COMM_SELF are not changed, and Comm::world() is a duplicate of
// MPI_COMM_WORLD; on a part of the processes, use from_mpi() (mpi_comm.hpp) and no Runtime. Constructor and
// destructor are collective over all processes. Only one may exist at a time.
//
// Throws Error{comm} if MPI provides less than MPI_THREAD_FUNNELED.
//
// A rank that leaves main alone would leave the others waiting. After an error, main should end with
//   if (!Comm::world().all_arrive_within(10)) runtime.abort(exit_code);
//   return exit_code;
class Runtime {
 public:
  Runtime(int& argc, char**& argv);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // From now on, ends the run with a message and exit code 3 if a rank waits in one call for `seconds`
  // while the ranks on its machine that it may wait for neither communicate nor use the processor, or
  // if all ranks wait for each other. Ranks on other machines cannot be observed: they may keep others
  // waiting no longer than this, except during OneProcessWorks. 0: no limit. Collective.
  void watch(double seconds);

  // Stops all ranks immediately.
  [[noreturn]] void abort(int exit_code) const;

 private:
  struct State;  // the communicator of Comm::world(), and the watchdog
  std::unique_ptr<State> state_;
  [[maybe_unused]] bool finalizes_ = false;  // unused by the one-process implementation
};

// While it exists, other ranks wait without a time limit for one rank that works alone, on any machine.
class OneProcessWorks {
 public:
  OneProcessWorks() noexcept;
  ~OneProcessWorks();
  OneProcessWorks(const OneProcessWorks&) = delete;
  OneProcessWorks& operator=(const OneProcessWorks&) = delete;
};

// Name and version of the MPI library on one line: "Open MPI v4.1.4, package: ...". Needs no Runtime.
std::string mpi_description();

}  // namespace polyad
