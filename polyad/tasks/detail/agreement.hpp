#pragma once

#include <string>
#include <vector>

#include "polyad/comm/comm.hpp"

namespace polyad::tasks {

// The processes of a run must have been started alike and must read the same files; otherwise they would wait
// for each other for ever, or compute a result that belongs to no input. All functions here are collective
// and, when processes disagree, throw the same error on all: Error{bad_option} for arguments,
// Error{bad_input} for files, with the number of the first process that differs from process 0.

// Version and arguments of the program. To be called before anything else that communicates.
void require_same_command(const Comm& comm, int argc, const char* const* argv);

// Size and content of the files that every process reads by itself, which may be copies on different
// machines. Of files larger than 16 MiB samples are compared. Files that a process cannot read are left to
// their reader, which names the reason; empty paths are skipped; of a directory all files are compared.
void require_same_files(const Comm& comm, const std::vector<std::string>& paths);

}  // namespace polyad::tasks
