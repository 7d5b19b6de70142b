#include "polyad/comm/loaded_mpi.hpp"

#include <dlfcn.h>

#include <bit>
#include <mutex>

#include "polyad/base/error.hpp"
#include "polyad/comm/mpi_transport.hpp"
#include "polyad/comm/mpi_watchdog.hpp"

namespace polyad {
namespace {

struct Found {
  bool is_complete = false;
  bool has_int_handles = false;
  loaded_mpi::Constants constants;
  loaded_mpi::Functions functions;
};
constinit Found found;

std::uintptr_t handle_value(const LoadedMpi& mpi, std::uint64_t value) {
  constexpr std::uint64_t lower_half = 0xffffffff;
  return mpi.has_int_handles ? value & lower_half : value;
}

loaded_mpi::Constants ask_for_constants(const LoadedMpi& mpi) {
  const auto set = [&](auto& handle, const char* name) {
    handle.value = handle_value(mpi, mpi.constant(name));
  };
  loaded_mpi::Constants constants;
  set(constants.comm_null, "MPI_COMM_NULL");
  set(constants.comm_world, "MPI_COMM_WORLD");
  set(constants.byte, "MPI_BYTE");
  set(constants.int32, "MPI_INT32_T");
  set(constants.int64, "MPI_INT64_T");
  set(constants.float32, "MPI_FLOAT");
  set(constants.float64, "MPI_DOUBLE");
  set(constants.sum, "MPI_SUM");
  set(constants.max, "MPI_MAX");
  set(constants.min, "MPI_MIN");
  set(constants.request_null, "MPI_REQUEST_NULL");
  set(constants.info_null, "MPI_INFO_NULL");
  set(constants.errors_return, "MPI_ERRORS_RETURN");
  constants.in_place = std::bit_cast<void*>(std::uintptr_t(mpi.constant("MPI_IN_PLACE")));
  constants.comm_type_shared = int(mpi.constant("MPI_COMM_TYPE_SHARED"));
  constants.thread_single = int(mpi.constant("MPI_THREAD_SINGLE"));
  constants.thread_funneled = int(mpi.constant("MPI_THREAD_FUNNELED"));
  return constants;
}

// The library stays loaded until the program ends.
loaded_mpi::Functions find_functions(const LoadedMpi& mpi) {
  void* const library = dlopen(mpi.library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr)
    throw Error(Errc::comm, mpi.library + ": expected the library of MPI that this program has loaded");
  const auto find = [&](const char* name) {
    void* const function = dlsym(library, name);
    if (function == nullptr)
      throw Error(Errc::comm, mpi.library + ": expected to find " + name + ", which MPI has since version 3");
    return function;
  };
  loaded_mpi::Functions functions;
#define POLYAD_FIND(name) functions.name = find("MPI_" #name);
  POLYAD_MPI_FUNCTIONS(POLYAD_FIND)
#undef POLYAD_FIND
  return functions;
}

void find_once(const LoadedMpi& mpi) {
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  if (found.is_complete) return;
  auto functions = find_functions(mpi);
  auto constants = ask_for_constants(mpi);
  found = {true, mpi.has_int_handles, constants, functions};
}

}  // namespace

bool loaded_mpi::has_int_handles() noexcept {
  return found.has_int_handles;
}

const loaded_mpi::Constants& loaded_mpi::constants() noexcept {
  return found.constants;
}

const loaded_mpi::Functions& loaded_mpi::functions() noexcept {
  return found.functions;
}

loaded_mpi::Status* loaded_mpi::ignored_status() noexcept {
  static thread_local Status ignored;
  return &ignored;
}

// Without a Runtime there is no watchdog to see them.
mpi::LifeSigns& mpi::own_signs() noexcept {
  static LifeSigns signs;
  return signs;
}

Comm from_loaded_mpi(const LoadedMpi& loaded, std::uint64_t handle) {
  find_once(loaded);
  const MPI_Comm comm{handle_value(loaded, handle)};
  mpi::check_usable(comm);
  return MpiAccess::make(mpi::duplicate(comm));
}

}  // namespace polyad
