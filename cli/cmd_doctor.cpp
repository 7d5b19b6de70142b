#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/machine_file.hpp"
#include "polyad/base/array.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/hypergraph/external_partitioner.hpp"
#include "polyad/plan/calibrate.hpp"
#include "polyad/tasks/detail/machine_file.hpp"
#include "polyad/version.hpp"

namespace polyad::cli {
namespace {

struct Args {
  CommonOptions common;
  bool calibrate = false;
};

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

std::string huge_pages() {
  std::ifstream in("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string word;
  while (in >> word)
    if (word.starts_with('[')) return word.substr(1, word.size() - 2);
  return "unknown";
}

bool on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    if (access((std::string(rest.substr(0, end)) + "/" + program).c_str(), X_OK) == 0) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

// Measures, tells and keeps what this machine takes. Collective.
nlohmann::ordered_json calibrate_machine(const Comm& comm, Console& console) {
  const auto path =
      collectively(comm, [&] { return comm.rank() == 0 ? prepare_machine_file() : std::filesystem::path(); });
  const auto machine = console.progress().during("calibrating", [&] { return calibrate(comm); });
  collectively(comm, [&] {
    if (comm.rank() == 0) save_machine(path, machine, comm.size(), num_threads());
  });
  console.say(fmt::format(
      "calibrated {:.3g} to {:.3g} ns a gathered component, {:.3g} ns a component squared of a solved row",
      1e9 * machine.per_near_gather, 1e9 * machine.per_far_gather, 1e9 * machine.per_row));
  console.say(
      fmt::format("           {:.3g} us a message, {:.3g} ns a word, {:.3g} ns a packed word{}",
                  1e6 * machine.per_message, 1e9 * machine.per_word, 1e9 * machine.per_packed_word,
                  comm.size() == 1 ? " (messages are built in: run under mpirun to measure them)" : ""));
  console.say(
      fmt::format("           {:.3g} GFLOP/s in products of matrices, each thread", 1e-9 / machine.per_flop));
  console.say("           kept in " + path.string());
  return tasks::machine_json(machine);
}

void run(const Comm& comm, const Args& args) {
  FilePlan plan;
  if (args.calibrate)
    plan.reads("the file of this machine", tasks::machine_file());  // created with its folder
  Console console(comm, args.common, plan);
  const auto memory = machine_memory();
  const bool threads_ok = comm.all_reduce(std::int32_t(threads_work()), Reduce::min) == 1;
  const bool messages_ok = messages_arrive(comm);
  nlohmann::ordered_json json{
      {"version", POLYAD_VERSION},      {"compiler", POLYAD_COMPILER},
      {"mpi", mpi_description()},       {"processes", comm.size()},
      {"messages_arrive", messages_ok}, {"cores", omp_get_num_procs()},
      {"threads", num_threads()},       {"threads_work", threads_ok},
      {"memory_bytes", memory.total},   {"available_memory_bytes", memory.available},
      {"huge_pages", huge_pages()},     {"zoltan", has_zoltan()},
      {"mt_kahypar", has_mt_kahypar()},
  };
  for (const auto* program : {"mpirun", "splatt", "mf-train", "chromium"})
    json["programs"][program] = on_path(program);

  console.say(fmt::format("polyad {} built with {}", POLYAD_VERSION, POLYAD_COMPILER));
  console.say(fmt::format("MPI        {}; {} process{}, messages {}", mpi_description(), comm.size(),
                          comm.size() == 1 ? "" : "es", messages_ok ? "arrive" : "DO NOT ARRIVE"));
  console.say(fmt::format("threads    {} per process on {} cores, {}", num_threads(), omp_get_num_procs(),
                          threads_ok ? "all take part" : "NOT ALL TAKE PART"));
  console.say(fmt::format("memory     {} of {} available", with_prefix(double(memory.available), "B"),
                          with_prefix(double(memory.total), "B")));
  console.say(
      fmt::format("huge pages {}{}", huge_pages(),
                  huge_pages() == "never" ? " (random access will be slower: 'madvise' would help)" : ""));
  const auto built_in = [](bool is_there) { return is_there ? "built in" : "not built in (optional)"; };
  console.say(fmt::format("Zoltan     {}", built_in(has_zoltan())));
  console.say(fmt::format("Mt-KaHyPar {}", built_in(has_mt_kahypar())));
  for (const auto& [program, found] : json["programs"].items())
    console.say(
        fmt::format("{:<10} {}", program, found.get<bool>() ? "found" : "not on the PATH (optional)"));
  if (args.calibrate) json["machine"] = calibrate_machine(comm, console);
  const int sharing = comm.ranks_on_this_machine();
  if (num_threads() * sharing > sysconf(_SC_NPROCESSORS_ONLN))
    console.warn(fmt::format("{} processes of {} threads share the {} cores of this machine", sharing,
                             num_threads(), sysconf(_SC_NPROCESSORS_ONLN)));
  console.result(json);
  if (!threads_ok || !messages_ok) throw Error(Errc::internal, "this installation does not work; see above");
}

}  // namespace

void add_doctor(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<Args>();
  auto* command = app.add_subcommand("doctor", "What is installed and whether threads and MPI work");
  command->add_flag(
      "--calibrate", args->calibrate,
      "Measure what kernels and messages take, for predictions; best with all processes of a run");
  add_common_options(*command, args->common);
  command->footer("Example: polyad doctor\n         mpirun -n 16 polyad doctor --calibrate");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
