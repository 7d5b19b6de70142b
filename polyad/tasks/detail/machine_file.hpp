#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "polyad/base/gpu_model.hpp"
#include "polyad/base/machine_model.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/tasks/doctor.hpp"

namespace polyad::tasks {

using polyad::machine_file;

// Throws for what the constants must not be written to: pipes and devices, and files that hold something
// else. The file of an earlier version, which lacks some of them, may be replaced, and so may an empty file.
void check_is_machine_file(const std::filesystem::path& path);

// The machine file, ready to be written: creates its folder. Throws Error{io} where the file could not be
// written, and as check_is_machine_file does.
std::filesystem::path prepare_machine_file();
// gpu: where there is one.
void save_machine(const std::filesystem::path& path, const MachineModel& machine,
                  const std::optional<GpuModel>& gpu, int processes);

struct KnownMachine {
  MachineModel model;
  std::string source;                // the file, or "built in"
  std::optional<GpuModel> gpu = {};  // where one was measured
};
// What `polyad doctor --calibrate` wrote, or what is built in; the same on all processes. Throws
// Error{bad_input} for a file that is none of ours. Collective.
KnownMachine load_machine(const Comm& comm);
// The same for processes with as many threads as these have. Collective.
KnownMachine machine_of_run(const Comm& comm);

nlohmann::ordered_json machine_json(const MachineModel& machine);
// The same and what was measured of a GPU, or null for each of its constants.
nlohmann::ordered_json calibrated_json(const MachineModel& machine, const std::optional<GpuModel>& gpu);

}  // namespace polyad::tasks
