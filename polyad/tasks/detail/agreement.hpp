#pragma once

#include <exception>
#include <string>
#include <vector>

#include "polyad/comm/collective.hpp"
#include "polyad/comm/comm.hpp"

namespace polyad::tasks {

// The processes of a run must read the same files (and must have been started alike: see program.hpp);
// otherwise they would wait for each other without end, or compute a result that belongs to no input.

// Throws Error{bad_input} on all processes, with the number of the first that differs from process 0, unless
// the files that every process reads by itself, which may be copies on different machines, have the same size
// and content on all. Of files larger than 16 MiB samples are compared. Files that a process cannot read are
// left to their reader, which names the reason; empty paths are skipped; of a directory all files are
// compared. Collective.
void require_same_files(const Comm& comm, const std::vector<std::string>& paths);

// What callbacks of the user threw on any of the processes, as it is on those; on the others an Error with
// the message of the first. Null everywhere: nothing. Collective.
void throw_as_is(const Comm& comm, const std::exception_ptr& mine);

// Calls a callback of the user, or not, on this process. What it throws comes out as throw_as_is says.
// Collective.
template <class Call>
void call_back(const Comm& comm, const Call& call) {
  std::exception_ptr thrown;
  try {
    call();
  } catch (...) {
    thrown = std::current_exception();
  }
  throw_as_is(comm, thrown);
}

// Whether an observer wants to go on on all processes. What it throws comes out as throw_as_is says.
// Collective.
template <class Observe>
bool all_go_on(const Comm& comm, const Observe& observe) {
  bool goes_on = false;
  call_back(comm, [&] { goes_on = observe(); });
  return comm.all_reduce(Index(goes_on), Reduce::min) == 1;
}

}  // namespace polyad::tasks
