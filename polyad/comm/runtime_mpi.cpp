#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <optional>
#include <sstream>
#include <string>

#include "polyad/comm/mpi_transfers.hpp"
#include "polyad/comm/mpi_transport.hpp"
#include "polyad/comm/runtime.hpp"

namespace polyad {
namespace {

using mpi::check;

// Whether no launcher started this process, among others perhaps.
bool is_alone() {
  return std::ranges::none_of(
      std::array{"OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE", "PMI_RANK", "PMI_FD", "SLURM_STEP_ID"},
      [](const char* name) { return std::getenv(name) != nullptr; });
}

void begin_mpi(int& argc, char**& argv) {
  // Without a launcher, Open MPI would start a daemon just in case this process spawns others: it does not.
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  // Nor does it need a folder for its session, which another job that ends may remove under its feet.
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr) setenv("OMPI_MCA_orte_create_session_dirs", "0", 0);
  // Nor fast networks: of the libraries for them that Debian's Open MPI loads on x86-64, one measures the
  // clock of the processor for 0.2 seconds.
  if (is_alone()) setenv("OMPI_MCA_pml", "ob1", 0);
  // Open MPI asks hwloc for cores and network devices. Where its plug-ins for graphics are installed, as
  // Debian's packages do, they look for a display and its drivers, which takes seconds on some machines (a
  // query of the name server for every start, where the name localhost is not in /etc/hosts).
  setenv("HWLOC_COMPONENTS", "-gl,-opencl,-cuda,-nvml,-rsmi,-levelzero", 0);
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  // By default MPI ends the program at any error. Those that belong to no communicator are raised on these.
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

}  // namespace

struct Runtime::State {
  State() : world(from_mpi(MPI_COMM_WORLD)) { mpi::set_world(&world); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { mpi::set_world(nullptr); }

  Comm world;
  std::optional<mpi::Watchdog> watchdog;
};

Runtime::Runtime(int& argc, char**& argv) {
  int running = 0;
  MPI_Initialized(&running);
  if (running == 0) begin_mpi(argc, argv);
  finalizes_ = running == 0;
  mpi::check_running();
  state_ = std::make_unique<State>();
}

Runtime::~Runtime() {
  // MPI_Finalize waits for all ranks, which may be waiting for this one.
  if (finalizes_ && std::uncaught_exceptions() > 0 && !state_->world.all_arrive_within(mpi::patience))
    mpi::stop_all(1);
  state_.reset();
  if (finalizes_) MPI_Finalize();
}

void Runtime::watch(double seconds) {
  if (state_->world.size() == 1) return;
  const auto& transport = static_cast<const mpi::MpiTransport&>(MpiAccess::transport(state_->world));
  state_->watchdog.emplace(transport.comm(), seconds);
}

void Runtime::abort(int exit_code) const {
  mpi::stop_all(exit_code);
}

OneProcessWorks::OneProcessWorks() noexcept {
  mpi::own_signs().patience.fetch_add(1);
}

OneProcessWorks::~OneProcessWorks() {
  mpi::own_signs().patience.fetch_sub(1);
}

std::string mpi_description() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return "an unknown MPI";
  std::istringstream in(text.data());  // what MPI says of the length counts the zero at the end, or does not
  std::string line, words;
  std::getline(in, line);
  std::istringstream first_line(line);
  for (std::string word; first_line >> word;) words += (words.empty() ? "" : " ") + word;
  return words;
}

}  // namespace polyad
