#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "polyad/base/machine_model.hpp"
#include "polyad/comm/comm.hpp"

namespace polyad::tasks {

// Where the constants of this machine are kept: $POLYAD_MACHINE, or polyad/machine.json in the user's folder
// for settings; empty where there is no such folder.
std::filesystem::path machine_file();

// Throws for what the constants must not be written to: pipes and devices, and files that hold something
// else. The file of an older version, which lacks some of them, may be replaced, and so may an empty file.
void check_is_machine_file(const std::filesystem::path& path);

struct KnownMachine {
  MachineModel model;
  std::string source;  // the file, or "built in"
};
// What `polyad doctor --calibrate` wrote, or what is built in; the same on all processes. Throws
// Error{bad_input} for a file that is none of ours. Collective.
KnownMachine load_machine(const Comm& comm);

nlohmann::ordered_json machine_json(const MachineModel& machine);

}  // namespace polyad::tasks
