#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "polyad/base/gpu_model.hpp"
#include "polyad/base/machine_model.hpp"
#include "polyad/base/types.hpp"
#include "polyad/tasks/context.hpp"
#include "polyad/tasks/device.hpp"

namespace polyad {

struct DoctorOptions {
  // Measure how fast this machine computes and communicates, with all processes of the context at work, and
  // write the result to machine_file(), from which later runs take it. Takes some seconds.
  bool calibrate = false;
};

// What an installation consists of and whether it works.
struct DoctorFindings {
  std::string version, compiler;  // of Polyad, and what it was built with
  std::string mpi;                // the MPI library, or that there is none
  std::string vectors;            // that the library computes with: "AVX2, 32 bytes"
  int processes = 1;
  bool messages_arrive = false;  // whether a message went around all processes
  bool shares_memory = false;    // whether processes of one machine read rows in each other's memory
  int cores = 1;                 // that this process may use
  int threads = 1;               // per process
  bool threads_work = false;     // whether all of them take part
  Index memory_bytes = 0, available_memory_bytes = 0;
  std::string huge_pages;                   // the setting of Linux: always, madvise or never
  std::vector<GpuInfo> gpus;                // that can be used
  std::string why_no_gpu;                   // where there are none
  bool zoltan = false, mt_kahypar = false;  // whether the library was built with these partitioners
  std::vector<std::pair<std::string, bool>> programs;  // optional programs, and whether each was found
  std::optional<MachineModel> machine;                 // the calibrated model, if requested
  std::optional<GpuModel> gpu_model;                   // the same of the first GPU, where there is one

  bool works() const { return messages_arrive && threads_work; }
  // The same as text for people.
  std::string summary() const;
  // The same as one JSON object; docs/json.md describes its keys.
  std::string json() const;
};

// Examines the installation. Throws Error{io} where the machine file cannot be written, before it calibrates.
// Collective; the processes have the same findings but for their own memory and cores.
DoctorFindings doctor(const Context& context, const DoctorOptions& options = {});

// The file with the constants of this machine by which run times are predicted: $POLYAD_MACHINE, else
// polyad/machine.json in $XDG_CONFIG_HOME or ~/.config; empty where none of these is set. Without it,
// built-in constants are used.
std::filesystem::path machine_file();

}  // namespace polyad
