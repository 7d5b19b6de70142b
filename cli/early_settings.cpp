// What must be settled before the shared libraries that the program uses are initialised: this runs before
// their constructors, so that nothing but plain system calls may be used here.

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string_view>

namespace {

constexpr rlim_t min_address_space = rlim_t(256) << 20;  // of a process without data, MPI included
constexpr int exit_of_resource = 3;
constexpr std::string_view too_little =
    "polyad: the address space is limited to less than 256 MiB, too little for the program itself; "
    "ulimit -v sets the limit\n";

constexpr const char* one_thread = "OPENBLAS_NUM_THREADS=1";
constexpr std::string_view name_of_threads = "OPENBLAS_NUM_THREADS=";

// ulimit -v; RLIM_INFINITY is the largest number.
rlim_t address_space() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

[[noreturn]] void refuse() {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, too_little.data(), too_little.size());
  _exit(exit_of_resource);
}

// OpenBLAS starts a thread per core when it is loaded, each with a buffer, and where memory is limited looks
// for it for ever. The program starts such threads itself, when a product of matrices is large enough. The
// environment cannot be changed at this time but by starting anew.
void start_without_blas_threads(char** argv, char** environment) {
  constexpr std::size_t most = 4096;
  static std::array<const char*, most> changed;
  std::size_t count = 0;
  for (; *environment != nullptr; ++environment) {
    if (std::strcmp(*environment, one_thread) == 0 || count + 2 >= most) return;
    if (!std::string_view(*environment).starts_with(name_of_threads)) changed[count++] = *environment;
  }
  changed[count] = one_thread;
  execve("/proc/self/exe", argv, const_cast<char* const*>(changed.data()));
}

void settle_early(int, char** argv, char** environment) {
  const auto limit = address_space();
  if (limit < min_address_space) refuse();
  if (limit != RLIM_INFINITY) start_without_blas_threads(argv, environment);
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const before_libraries)(int, char**,
                                                                             char**) = settle_early;

}  // namespace
