#include "polyad/base/memory.hpp"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <limits>
#include <string>

namespace polyad {

namespace {

// What the system says of this process, in bytes; 0 where it does not.
Index own_status(const std::string& key) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key)) return std::stoll(line.substr(key.size())) * 1024;
  return 0;
}

std::atomic<Index>& noted_bytes() {
  static std::atomic<Index> bytes = 0;
  return bytes;
}

}  // namespace

// What getrusage says is inherited from the program that started this one.
Index peak_memory_bytes() {
  if (const Index peak = own_status("VmHWM:"); peak > 0) return peak;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return Index(usage.ru_maxrss) * 1024;  // Linux counts in kibibytes
}

Index resident_memory_bytes() {
  return own_status("VmRSS:");
}

void trim_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

void note_program_memory() {
  noted_bytes() = resident_memory_bytes();
}

Index program_bytes() {
  constexpr Index usual = 32 << 20, added_by_mpi = 6 << 20;  // as seen with Open MPI
  constexpr Index step = 16 << 20;  // coarse, so that a plan that is repeated is the same
  return std::max(usual, (noted_bytes() + added_by_mpi + step - 1) / step * step);
}

MachineMemory machine_memory() {
  MachineMemory memory;
  std::ifstream in("/proc/meminfo");
  Index kib = 0;
  for (std::string key; in >> key >> kib; in.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    if (key == "MemTotal:") memory.total = kib * 1024;
    if (key == "MemAvailable:") memory.available = kib * 1024;
  }
  return memory;
}

Index free_memory_bytes() {
  const Index of_machine = machine_memory().available;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return of_machine;
  const Index of_space = std::max(Index(0), Index(limit.rlim_cur) - own_status("VmSize:"));
  return of_machine > 0 ? std::min(of_machine, of_space) : of_space;
}

Index memory_to_plan_with() {
  constexpr Index address_space = Index(1) << 47;
  const Index total = machine_memory().total;
  return total > 0 ? total : address_space;
}

}  // namespace polyad
