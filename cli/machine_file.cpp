#include "cli/machine_file.hpp"

#include <nlohmann/json.hpp>

#include "cli/output.hpp"
#include "polyad/base/error.hpp"
#include "polyad/tasks/detail/machine_file.hpp"
#include "polyad/tasks/detail/output_files.hpp"

namespace polyad::cli {

std::filesystem::path prepare_machine_file() {
  auto path = tasks::machine_file();
  if (path.empty())
    throw Error(Errc::bad_option,
                "HOME is not set; POLYAD_MACHINE names the file that the constants are written to");
  std::error_code failed;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), failed);
  if (failed)
    throw Error(Errc::io, "cannot be created: " + failed.message() + "; POLYAD_MACHINE names another file",
                {path.parent_path().string(), 0});
  tasks::check_is_machine_file(path);
  FilePlan().writes("the file of this machine", path).check();
  return path;
}

void save_machine(const std::filesystem::path& path, const MachineModel& machine, int processes,
                  int threads) {
  auto json = tasks::machine_json(machine);
  json["processes"] = processes;
  json["threads"] = threads;
  tasks::write_text(path, json.dump(2) + "\n");
}

}  // namespace polyad::cli
