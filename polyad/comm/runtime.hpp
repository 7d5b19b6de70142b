#pragma once

#include <string>

namespace polyad {

// The life of MPI. Construct one in main before anything else; communicators work while it lives. Where
// MPI runs already (a guest in another program), it is left running.
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

  // Stops all ranks now.
  [[noreturn]] void abort(int exit_code) const;

 private:
  [[maybe_unused]] bool finalizes_ = false;  // the one-process twin has nothing to finalise
};

// Which MPI this is, on one line: "Open MPI v4.1.4, package: ...". Needs no Runtime.
std::string mpi_description();

}  // namespace polyad
