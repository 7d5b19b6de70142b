#include "polyad/tasks/doctor.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/comm/shared_pages.hpp"
#include "polyad/gpu/measure_gpu.hpp"
#include "polyad/hypergraph/external_partitioner.hpp"
#include "polyad/io/bytes/download.hpp"
#include "polyad/kernels/vector_instructions.hpp"
#include "polyad/plan/calibrate.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/machine_file.hpp"
#include "polyad/tasks/detail/task_scope.hpp"
#include "polyad/version.hpp"

namespace polyad {
namespace {

// Whether every thread really takes part.
bool threads_work() {
  std::vector<int> visited(num_threads(), 0);
  parallel_parts(num_threads(), [&](Index begin, Index end, int) {
    for (Index i = begin; i < end; ++i) visited[i] = 1;
  });
  return std::ranges::count(visited, 1) == num_threads();
}

// Passes a token around all processes. Collective.
bool messages_arrive(const Comm& comm) {
  const int next = (comm.rank() + 1) % comm.size(), previous = (comm.rank() + comm.size() - 1) % comm.size();
  const Index sent = comm.rank();
  Index received = -1;
  auto receive = comm.irecv(std::span(&received, 1), previous);
  auto send = comm.isend(std::span(&sent, 1), next);
  receive.wait();
  send.wait();
  return comm.all_reduce(std::int32_t(received == previous), Reduce::min) == 1;
}

// Whether some processes are on one machine, and all of those read each other's memory. Collective.
bool shares_memory(const Comm& comm) {
  const SharedPages pages(comm, 1);
  const int num_neighbours = comm.split_by_machine().size() - 1;
  const bool is_fine = num_neighbours == 0 || pages.of(comm.rank()) != nullptr;
  return comm.all_reduce(std::int32_t(num_neighbours), Reduce::max) > 0 &&
         comm.all_reduce(std::int32_t(is_fine), Reduce::min) == 1;
}

std::string huge_page_setting() {
  std::ifstream in("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string word;
  while (in >> word)
    if (word.starts_with('[')) return word.substr(1, word.size() - 2);
  return "unknown";
}

// By the first process, with the first GPU, while the others wait. One that fails is not needed by the rest.
// Collective.
std::optional<GpuModel> calibrate_gpu(const Context& context) {
  const Comm& comm = context.comm();
  std::optional<GpuModel> gpu;
  if (comm.rank() == 0) {
    try {
      gpu = gpu::measure_gpu(0);
    } catch (const Error& error) {
      context.warn("the GPU was not measured: " + error.message());
    }
  }
  const bool is_there = comm.broadcast(gpu.has_value(), 0);
  return is_there ? std::optional(comm.broadcast(gpu.value_or(GpuModel{}), 0)) : std::nullopt;
}

// Measures what this machine takes and stores it. Collective.
void calibrate_and_store(const Context& context, DoctorFindings& found) {
  const Comm& comm = context.comm();
  const auto path = collectively(
      comm, [&] { return comm.rank() == 0 ? tasks::prepare_machine_file() : std::filesystem::path(); });
  found.machine = context.progress().during("calibrating", [&] { return calibrate(comm); });
  if (comm.broadcast(!found.gpus.empty(), 0))
    found.gpu_model =
        context.progress().during("calibrating the GPU", [&] { return calibrate_gpu(context); });
  collectively(comm, [&] {
    if (comm.rank() == 0) tasks::save_machine(path, *found.machine, found.gpu_model, comm.size());
  });
}

void warn_of_shared_cores(const Context& context) {
  const int sharing = context.comm().split_by_machine().size();
  const auto cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (num_threads() * sharing > cores)
    context.warn(fmt::format("{} processes of {} threads share the {} cores of this machine", sharing,
                             num_threads(), cores));
}

std::string gpu_text(const GpuModel& gpu) {
  return fmt::format(
             "\n           GPU: {}B/s in a copy, {}B/s from host memory; rows of factors at {}B/s to {}B/s",
             with_prefix(1 / gpu.per_copied_byte, ""), with_prefix(1 / gpu.per_uploaded_byte, ""),
             with_prefix(1 / gpu.per_far_byte, ""), with_prefix(1 / gpu.per_near_byte, "")) +
         fmt::format(
             "\n           {:.3g} ns per new row of 16 components, {:.3g} us to start the update of a mode",
             1e9 * (16 * gpu.per_solved_entry + 256 * gpu.per_solved_product), 1e6 * gpu.per_mode);
}

std::string machine_text(const MachineModel& machine, const std::optional<GpuModel>& gpu, int processes) {
  auto text = fmt::format(
      "\ncalibrated {:.3g} to {:.3g} ns per gathered component, {:.3g} ns per squared component of a solved "
      "row",
      1e9 * machine.per_near_gather, 1e9 * machine.per_far_gather, 1e9 * machine.per_row);
  text += fmt::format("\n           {:.3g} us per message, {:.3g} ns per word, {:.3g} ns per packed word{}",
                      1e6 * machine.per_message, 1e9 * machine.per_word, 1e9 * machine.per_packed_word,
                      processes == 1 ? " (messages are built in: run under mpirun to measure them)" : "");
  text += fmt::format("\n           {:.3g} GFLOP/s in matrix products, per thread", 1e-9 / machine.per_flop);
  if (gpu) text += gpu_text(*gpu);
  return text + "\n           wrote " + machine_file().string();
}

}  // namespace

DoctorFindings doctor(const Context& context, const DoctorOptions& options) {
  const tasks::TaskScope scope(context);
  const Comm& comm = context.comm();
  const auto memory = machine_memory();
  DoctorFindings found;
  found.version = POLYAD_VERSION;
  found.compiler = POLYAD_COMPILER;
  found.mpi = mpi_description();
  found.vectors = kernels::vector_instructions();
  found.processes = comm.size();
  found.threads_work = comm.all_reduce(std::int32_t(threads_work()), Reduce::min) == 1;
  found.messages_arrive = messages_arrive(comm);
  found.shares_memory = shares_memory(comm);
  found.cores = omp_get_num_procs();
  found.threads = num_threads();
  found.memory_bytes = memory.total;
  found.available_memory_bytes = memory.available;
  found.huge_pages = huge_page_setting();
  auto [gpus, why_no_gpu] = list_gpus();
  found.gpus = std::move(gpus);
  found.why_no_gpu = std::move(why_no_gpu);
  found.zoltan = hypergraph::has_zoltan();
  found.mt_kahypar = hypergraph::has_mt_kahypar();
  for (const auto* program : {"mpirun", "splatt", "mf-train", "chromium"})
    found.programs.emplace_back(program, io::find_program(program).has_value());
  if (options.calibrate) calibrate_and_store(context, found);
  warn_of_shared_cores(context);
  return found;
}

std::string DoctorFindings::summary() const {
  auto text = fmt::format("polyad {} built with {}", version, compiler);
  text += fmt::format("\nMPI        {}; {} process{}, messages {}", mpi, processes,
                      processes == 1 ? "" : "es", messages_arrive ? "arrive" : "DO NOT ARRIVE");
  if (shares_memory) text += "; on one machine rows are read in shared memory";
  text += fmt::format("\nthreads    {} per process on {} cores, {}", threads, cores,
                      threads_work ? "all take part" : "NOT ALL TAKE PART");
  text += fmt::format("\nvectors    {}", vectors);
  text += fmt::format("\nmemory     {} of {} available", with_prefix(double(available_memory_bytes), "B"),
                      with_prefix(double(memory_bytes), "B"));
  text += fmt::format("\nhuge pages {}{}", huge_pages,
                      huge_pages == "never" ? " (random access will be slower: 'madvise' would help)" : "");
  for (std::size_t index = 0; index < gpus.size(); ++index)
    text += fmt::format("\nGPU {:<6} {}, {}", index, gpus[index].name,
                        with_prefix(double(gpus[index].memory_bytes), "B"));
  if (gpus.empty()) text += "\nGPU        none: " + why_no_gpu;
  const auto built_in = [](bool is_there) { return is_there ? "built in" : "not built in (optional)"; };
  text += fmt::format("\nZoltan     {}\nMt-KaHyPar {}", built_in(zoltan), built_in(mt_kahypar));
  for (const auto& [program, is_found] : programs)
    text += fmt::format("\n{:<10} {}", program, is_found ? "found" : "not on the PATH (optional)");
  return machine ? text + machine_text(*machine, gpu_model, processes) : text;
}

std::string DoctorFindings::json() const {
  nlohmann::ordered_json json{
      {"version", version},
      {"compiler", compiler},
      {"mpi", mpi},
      {"vectors", vectors},
      {"processes", processes},
      {"messages_arrive", messages_arrive},
      {"shares_memory", shares_memory},
      {"cores", cores},
      {"threads", threads},
      {"threads_work", threads_work},
      {"memory_bytes", memory_bytes},
      {"available_memory_bytes", available_memory_bytes},
      {"huge_pages", huge_pages},
      {"zoltan", zoltan},
      {"mt_kahypar", mt_kahypar},
  };
  for (const auto* key : {"gpus", "gpu_memory_bytes"}) json[key] = nlohmann::ordered_json::array();
  for (const auto& [name, bytes] : gpus) {
    json["gpus"].push_back(name);
    json["gpu_memory_bytes"].push_back(bytes);
  }
  for (const auto& [program, is_found] : programs) json["programs"][program] = is_found;
  if (machine) json["machine"] = tasks::calibrated_json(*machine, gpu_model);
  return tasks::json_text(json);
}

}  // namespace polyad
