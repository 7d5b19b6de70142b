#include "cli/machine_file.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/output.hpp"
#include "polyad/base/error.hpp"
#include "polyad/comm/collective.hpp"

namespace polyad::cli {
namespace {

struct Constant {
  const char* name;
  double MachineModel::*value;
  bool is_required = true;  // older files have not all of them
};
constexpr std::array constants{Constant{"seconds_per_message", &MachineModel::per_message},
                               Constant{"seconds_per_word", &MachineModel::per_word},
                               Constant{"seconds_per_packed_word", &MachineModel::per_packed_word},
                               Constant{"seconds_per_near_gather", &MachineModel::per_near_gather},
                               Constant{"seconds_per_far_gather", &MachineModel::per_far_gather},
                               Constant{"seconds_per_row", &MachineModel::per_row},
                               Constant{"seconds_per_flop", &MachineModel::per_flop, false}};

MachineModel parse(const std::filesystem::path& path) {
  std::ifstream in(path);
  const auto json = nlohmann::json::parse(in, nullptr, false);
  MachineModel machine;
  for (const auto& [name, value, is_required] : constants) {
    if (!is_required && json.is_object() && !json.contains(name)) continue;
    const bool is_there = json.is_object() && json.contains(name) && json[name].is_number();
    machine.*value = is_there ? json[name].get<double>() : -1;
    if (!(machine.*value >= 0) || !std::isfinite(machine.*value))
      throw Error(Errc::bad_input,
                  std::string("expected a number for ") + name + ", as polyad doctor --calibrate writes it",
                  {path.string(), 0});
  }
  return machine;
}

}  // namespace

std::filesystem::path machine_file() {
  if (const char* file = std::getenv("POLYAD_MACHINE"); file != nullptr && *file != '\0') return file;
  if (const char* folder = std::getenv("XDG_CONFIG_HOME"); folder != nullptr && *folder != '\0')
    return std::filesystem::path(folder) / "polyad" / "machine.json";
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home == nullptr ? "." : home) / ".config" / "polyad" / "machine.json";
}

KnownMachine load_machine(const Comm& comm) {
  KnownMachine known{{}, "built in"};
  const auto path = machine_file();
  const bool is_there = collectively(comm, [&] {
    std::error_code ignored;
    if (comm.rank() != 0 || !std::filesystem::exists(path, ignored)) return false;
    known.model = parse(path);
    return true;
  });
  if (comm.broadcast(is_there, 0)) known.source = path.string();
  known.model = comm.broadcast(known.model, 0);
  return known;
}

nlohmann::ordered_json machine_json(const MachineModel& machine) {
  nlohmann::ordered_json json;
  for (const auto& [name, value, is_required] : constants) json[name] = machine.*value;
  return json;
}

void save_machine(const std::filesystem::path& path, const MachineModel& machine, int processes,
                  int threads) {
  auto json = machine_json(machine);
  json["processes"] = processes;
  json["threads"] = threads;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  write_text(path, json.dump(2) + "\n");
}

}  // namespace polyad::cli
