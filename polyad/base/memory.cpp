#include "polyad/base/memory.hpp"

#include <malloc.h>
#include <sys/resource.h>

#include <fstream>
#include <limits>
#include <string>

namespace polyad {

Index peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return Index(usage.ru_maxrss) * 1024;  // Linux counts in kibibytes
}

void trim_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
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

}  // namespace polyad
