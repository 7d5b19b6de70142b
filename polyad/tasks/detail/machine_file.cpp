#include "polyad/tasks/detail/machine_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/io/bytes/input_file.hpp"
#include "polyad/tasks/detail/output/output_files.hpp"
#include "polyad/tasks/file_plan.hpp"

namespace polyad {

std::filesystem::path machine_file() {
  if (const char* file = std::getenv("POLYAD_MACHINE"); file != nullptr && *file != '\0') return file;
  if (const char* folder = std::getenv("XDG_CONFIG_HOME"); folder != nullptr && *folder != '\0')
    return std::filesystem::path(folder) / "polyad" / "machine.json";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return {};
  return std::filesystem::path(home) / ".config" / "polyad" / "machine.json";
}

namespace tasks {
namespace {

struct Constant {
  const char* name;
  double MachineModel::*value;
  bool is_required = true;  // files of earlier versions lack the others, which then keep their defaults
};
constexpr std::array constants{
    Constant{"seconds_per_message", &MachineModel::per_message},
    Constant{"seconds_per_word", &MachineModel::per_word},
    Constant{"seconds_per_packed_word", &MachineModel::per_packed_word},
    Constant{"seconds_per_near_gather", &MachineModel::per_near_gather},
    Constant{"seconds_per_far_gather", &MachineModel::per_far_gather},
    Constant{"seconds_per_row", &MachineModel::per_row},
    Constant{"seconds_per_flop", &MachineModel::per_flop, false},
    Constant{"seconds_per_near_line", &MachineModel::per_near_line, false},
    Constant{"seconds_per_far_line", &MachineModel::per_far_line, false},
    Constant{"seconds_per_streamed_byte", &MachineModel::per_streamed_byte, false},
    Constant{"seconds_per_node", &MachineModel::per_node, false},
    Constant{"seconds_per_solved_row", &MachineModel::per_solved_row, false},
    Constant{"seconds_per_sorted_nonzero", &MachineModel::per_sorted_nonzero, false}};

struct GpuConstant {
  const char* name;
  double GpuModel::*value;
};
constexpr std::array gpu_constants{
    GpuConstant{"gpu_seconds_per_copied_byte", &GpuModel::per_copied_byte},
    GpuConstant{"gpu_seconds_per_uploaded_byte", &GpuModel::per_uploaded_byte},
    GpuConstant{"gpu_seconds_per_near_byte", &GpuModel::per_near_byte},
    GpuConstant{"gpu_seconds_per_far_byte", &GpuModel::per_far_byte},
    GpuConstant{"gpu_seconds_per_solved_entry", &GpuModel::per_solved_entry},
    GpuConstant{"gpu_seconds_per_solved_product", &GpuModel::per_solved_product},
    GpuConstant{"gpu_seconds_per_mode", &GpuModel::per_mode}};

constexpr auto threads_key = "threads";
constexpr Index max_threads = 1 << 20;
constexpr Index max_file_bytes = 1 << 20;

nlohmann::json read_json(const std::filesystem::path& path) {
  const io::InputFile file(path);
  if (file.size() > max_file_bytes)
    throw Error(Errc::bad_input, "is too large for what polyad doctor --calibrate writes",
                {path.string(), 0});
  std::string text(std::size_t(file.size()), '\0');
  file.read(0, text);
  return nlohmann::json::parse(text, nullptr, false);
}

[[noreturn]] void refuse_constant(const char* name, const std::filesystem::path& path) {
  throw Error(Errc::bad_input,
              std::string("expected a number for ") + name + ", as polyad doctor --calibrate writes it",
              {path.string(), 0});
}

// Nothing where no GPU was measured.
std::optional<GpuModel> parse_gpu(const nlohmann::json& json, const std::filesystem::path& path) {
  if (json.value(gpu_constants.front().name, nlohmann::json()).is_null()) return std::nullopt;
  GpuModel gpu;
  for (const auto& [name, value] : gpu_constants) {
    const auto found = json.value(name, nlohmann::json());
    if (!found.is_number()) refuse_constant(name, path);
    gpu.*value = found.get<double>();
    if (!(gpu.*value >= 0) || !std::isfinite(gpu.*value)) refuse_constant(name, path);
  }
  return gpu;
}

MachineModel parse_machine(const nlohmann::json& json, const std::filesystem::path& path) {
  MachineModel machine;
  for (const auto& [name, value, is_required] : constants) {
    if (!is_required && json.is_object() && !json.contains(name)) continue;
    const bool is_there = json.is_object() && json.contains(name) && json[name].is_number();
    machine.*value = is_there ? json[name].get<double>() : -1;
    if (!(machine.*value >= 0) || !std::isfinite(machine.*value)) refuse_constant(name, path);
  }
  if (json.contains(threads_key)) {
    const bool is_count = json[threads_key].is_number_integer();
    machine.threads = int(is_count ? std::clamp<Index>(json[threads_key].get<Index>(), 0, max_threads) : 0);
    if (machine.threads < 1)
      throw Error(Errc::bad_input,
                  fmt::format("expected a number from 1 to {} for {}, as polyad doctor --calibrate writes it",
                              max_threads, threads_key),
                  {path.string(), 0});
  }
  return machine;
}

}  // namespace

void check_is_machine_file(const std::filesystem::path& path) {
  std::error_code unknown;
  const auto status = std::filesystem::status(path, unknown);
  if (!std::filesystem::exists(status) || std::filesystem::is_directory(status)) return;
  if (!std::filesystem::is_regular_file(status))
    throw Error(Errc::bad_option,
                "is no regular file; POLYAD_MACHINE names the file that the constants are written to",
                {path.string(), 0});
  if (std::filesystem::file_size(path, unknown) == 0) return;
  const auto json = read_json(path);
  if (!std::ranges::any_of(constants,
                           [&](const auto& c) { return json.is_object() && json.contains(c.name); }))
    throw Error(
        Errc::bad_option,
        "exists and does not hold what polyad doctor --calibrate writes; remove it, or name another file "
        "by POLYAD_MACHINE",
        {path.string(), 0});
}

std::filesystem::path prepare_machine_file() {
  auto path = machine_file();
  if (path.empty())
    throw Error(Errc::bad_option,
                "HOME is not set; POLYAD_MACHINE names the file that the constants are written to");
  std::error_code failed;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), failed);
  if (failed)
    throw Error(Errc::io, "cannot be created: " + failed.message() + "; POLYAD_MACHINE names another file",
                {path.parent_path().string(), 0});
  check_is_machine_file(path);
  FilePlan().writes("the machine file", path).check();
  return path;
}

void save_machine(const std::filesystem::path& path, const MachineModel& machine,
                  const std::optional<GpuModel>& gpu, int processes) {
  auto json = calibrated_json(machine, gpu);
  json["processes"] = processes;
  json[threads_key] = machine.threads;
  write_text(path, json.dump(2) + "\n");
}

KnownMachine load_machine(const Comm& comm) {
  KnownMachine known{{}, "built in"};
  const auto path = machine_file();
  const bool is_there = collectively(comm, [&] {
    std::error_code ignored;
    if (comm.rank() != 0 || !std::filesystem::exists(path, ignored)) return false;
    const auto json = read_json(path);
    known.model = parse_machine(json, path);
    known.gpu = parse_gpu(json, path);
    return true;
  });
  if (comm.broadcast(is_there, 0)) known.source = path.string();
  known.model = comm.broadcast(known.model, 0);
  if (comm.broadcast(known.gpu.has_value(), 0)) known.gpu = comm.broadcast(known.gpu.value_or(GpuModel{}), 0);
  return known;
}

KnownMachine machine_of_run(const Comm& comm) {
  auto known = load_machine(comm);
  known.model = known.model.with_threads(int(comm.all_reduce(Index(num_threads()), Reduce::max)));
  return known;
}

nlohmann::ordered_json machine_json(const MachineModel& machine) {
  nlohmann::ordered_json json;
  for (const auto& [name, value, is_required] : constants) json[name] = machine.*value;
  return json;
}

nlohmann::ordered_json calibrated_json(const MachineModel& machine, const std::optional<GpuModel>& gpu) {
  auto json = machine_json(machine);
  for (const auto& [name, value] : gpu_constants)
    json[name] = gpu ? nlohmann::ordered_json(*gpu.*value) : nlohmann::ordered_json();
  return json;
}

}  // namespace tasks
}  // namespace polyad
