#pragma once

#include <string>
#include <vector>

#include "polyad/comm/comm.hpp"
#include "polyad/tasks/load.hpp"

namespace polyad::tasks {

// The files that a tensor is read from: those that were given, and those in folders that were.
struct SourceFiles {
  std::vector<std::filesystem::path> given, files;
  std::string name;  // of all of them in messages: the file, the folder, or "a.csv and 2 other files"
  std::filesystem::path folder;         // if a folder was given and nothing else
  std::vector<std::string> notes = {};  // what was left out
};

// Of a folder all files are taken in the order of their names, except label files and hidden ones. Of several
// files the empty ones are left out. Throws Error{bad_input} if there are none.
SourceFiles source_files(const TensorFiles& given);

// Where standard input is among the files, all processes get what process 0 reads from it. Collective.
void share_standard_input(const Comm& comm, const TensorFiles& given);

}  // namespace polyad::tasks
