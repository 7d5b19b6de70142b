#pragma once

#include <filesystem>

#include "polyad/base/machine_model.hpp"

namespace polyad::cli {

// The file for the constants of this machine, for writing: makes its folder. Throws Error{io} where the file
// could not be written.
std::filesystem::path prepare_machine_file();
void save_machine(const std::filesystem::path& path, const MachineModel& machine, int processes, int threads);

}  // namespace polyad::cli
