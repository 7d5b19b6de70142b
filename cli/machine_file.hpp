#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "polyad/comm/comm.hpp"
#include "polyad/dist/machine_model.hpp"

namespace polyad::cli {

// Where the constants of this machine are kept: $POLYAD_MACHINE, or polyad/machine.json in the user's folder
// for settings; empty where there is no such folder.
std::filesystem::path machine_file();
// The same for writing: makes the folder. Throws Error{io} where the file could not be written.
std::filesystem::path prepare_machine_file();

struct KnownMachine {
  MachineModel model;
  std::string source;  // the file, or "built in"
};
// What `polyad doctor --calibrate` wrote, or what is built in; the same on all processes. Throws
// Error{bad_input} for a file that is none of ours. Collective.
KnownMachine load_machine(const Comm& comm);

nlohmann::ordered_json machine_json(const MachineModel& machine);
void save_machine(const std::filesystem::path& path, const MachineModel& machine, int processes, int threads);

}  // namespace polyad::cli
