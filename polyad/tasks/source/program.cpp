#include <fmt/format.h>
#include <omp.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <latch>
#include <system_error>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/kernels/dense/blas_memory.hpp"
#include "polyad/tasks/program.hpp"

namespace polyad {
namespace {

void* wait_at(void* latch) {
  static_cast<std::latch*>(latch)->wait();
  return nullptr;
}

// Of OMP_STACKSIZE, as in 512k or 4 M; kibibytes without a unit. 0: as the system has it.
std::size_t stack_bytes() {
  const char* const text = std::getenv("OMP_STACKSIZE");
  if (text == nullptr) return 0;
  char* unit = nullptr;
  const unsigned long long number = std::strtoull(text, &unit, 10);
  while (*unit == ' ') ++unit;
  int shift = 10;
  if (*unit == 'b' || *unit == 'B') shift = 0;
  if (*unit == 'm' || *unit == 'M') shift = 20;
  if (*unit == 'g' || *unit == 'G') shift = 30;
  constexpr std::size_t maximum = std::size_t(1) << 60;  // no address space is so large
  return number > (maximum >> shift) ? maximum : std::size_t(number) << shift;
}

// Starts this number of threads at once: 0, or the error of the first that could not be started.
int try_threads(int count) {
  std::latch end(1);
  std::vector<pthread_t> threads;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (const auto bytes = stack_bytes(); bytes > 0) pthread_attr_setstacksize(&attributes, bytes);
  int error = 0;
  while (error == 0 && std::ssize(threads) < count) {
    pthread_t thread{};
    error = pthread_create(&thread, &attributes, wait_at, &end);
    if (error == 0) threads.push_back(thread);
  }
  pthread_attr_destroy(&attributes);
  end.count_down();
  for (const auto thread : threads) pthread_join(thread, nullptr);
  return error;
}

bool is_address_space_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

void start_team() {
  const int count = std::min(omp_get_max_threads(), omp_get_thread_limit());
  if (count > max_threads)
    throw Error(Errc::bad_option, fmt::format("OMP_NUM_THREADS asks for {} threads; at most {} are supported",
                                              count, max_threads));
  if (const int error = try_threads(count - 1); error != 0)
    throw Error(
        Errc::resource,
        fmt::format("{} threads cannot be started: {}; {} asks for fewer, and ulimit -v and -u limit their "
                    "memory and number",
                    count, std::generic_category().message(error), option_name("threads")));
  // Where data may take what is left of the address space, all that threads need is allocated before. Threads
  // that have been started stay, so that later regions need no new ones; they come first, because libgomp
  // ends the program where it cannot start one.
  if (!is_address_space_limited()) return;
  int started = 0;
#pragma omp parallel reduction(+ : started)
  ++started;
  kernels::reserve_blas_buffer();
}

}  // namespace

// Processes that are bound to cores of their own use those; others share the machine's evenly.
double timeout_setting() {
  constexpr double ten_minutes = 600;
  const char* const text = std::getenv("POLYAD_TIMEOUT");
  if (text == nullptr || *text == '\0') return ten_minutes;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (*end == '\0' && std::isfinite(seconds) && seconds >= 0) return seconds;
  throw Error(Errc::bad_option,
              fmt::format("POLYAD_TIMEOUT={}: expected a number of seconds, or 0 for no limit", text));
}

void start_threads(const Comm& comm, int threads) {
  const int sharing = comm.split_by_machine().size();
  const bool is_bound = omp_get_num_procs() < sysconf(_SC_NPROCESSORS_ONLN);
  if (threads > 0)
    omp_set_num_threads(threads);
  else if (!is_bound && sharing > 1 && std::getenv("OMP_NUM_THREADS") == nullptr)
    omp_set_num_threads(std::max(1, omp_get_num_procs() / sharing));
  collectively(comm, start_team);
}

}  // namespace polyad
