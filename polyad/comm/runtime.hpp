#pragma once

#include <memory>
#include <string>

namespace polyad {

// The life of MPI. Construct one in main before anything else; Comm::world() works while it lives. Where MPI
// runs already, because Polyad is a guest in another program, it is left running, the error handlers of
// MPI_COMM_WORLD and MPI_COMM_SELF stay as they are, and Comm::world() is a duplicate of MPI_COMM_WORLD; a
// guest on fewer processes takes from_mpi() (mpi_comm.hpp) and no Runtime. Constructor and destructor are
// collective over all processes. One at a time.
//
// Throws Error{comm} where MPI allows no threads (less than MPI_THREAD_FUNNELED).
//
// A rank that leaves main alone would make the others wait for ever. So main ends an error with
//   if (!Comm::world().all_arrive_within(10)) runtime.abort(exit_code);
//   return exit_code;
class Runtime {
 public:
  Runtime(int& argc, char**& argv);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // From now on ends the run with a sentence and exit code 3 when a rank waits in one call for so many
  // seconds and those on its machine that it may wait for neither communicate nor use the processor, or when
  // all wait for each other. What ranks on other machines do is not seen: they may not let others wait longer
  // than that, but where OneProcessWorks says so. 0: never. Collective.
  void watch(double seconds);

  // Stops all ranks now.
  [[noreturn]] void abort(int exit_code) const;

 private:
  struct State;  // the communicator of Comm::world(), and the watchdog
  std::unique_ptr<State> state_;
  [[maybe_unused]] bool finalizes_ = false;  // the one-process twin has nothing to finalise
};

// While it lives, the others wait for one rank that works alone, on whatever machine, as long as that takes.
class OneProcessWorks {
 public:
  OneProcessWorks() noexcept;
  ~OneProcessWorks();
  OneProcessWorks(const OneProcessWorks&) = delete;
  OneProcessWorks& operator=(const OneProcessWorks&) = delete;
};

// Which MPI this is, on one line: "Open MPI v4.1.4, package: ...". Needs no Runtime.
std::string mpi_description();

}  // namespace polyad
