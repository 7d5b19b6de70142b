#include "polyad/comm/lone_work.hpp"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <system_error>
#include <thread>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"

namespace polyad {
namespace {

// What a process can compute with.
struct Strength {
  cpu_set_t cores;
  int num_threads;
  bool is_known;  // the cores are those that the process may run on, and its threads are not bound to some of
                  // them
};

Strength own_strength() {
  Strength own{{}, num_threads(), false};
  CPU_ZERO(&own.cores);
  own.is_known =
      omp_get_proc_bind() == omp_proc_bind_false && sched_getaffinity(0, sizeof own.cores, &own.cores) == 0;
  return own;
}

// That of all processes of the machine together.
Strength strength_of_machine(const Comm& comm) {
  const auto all = comm.split_by_machine().all_gather(own_strength());
  Strength together{{}, 0, true};
  CPU_ZERO(&together.cores);
  for (const auto& one : all) {
    CPU_OR(&together.cores, &together.cores, &one.cores);
    together.num_threads += one.num_threads;
    together.is_known = together.is_known && one.is_known;
  }
  together.num_threads = std::min(together.num_threads, CPU_COUNT(&together.cores));
  return together;
}

std::optional<Error> error_of(CallRef<void()> fn) {
  try {
    fn();
    return std::nullopt;
  } catch (...) {
    return as_error(std::current_exception());
  }
}

// In a thread of its own: those that a parallel region starts may run on the same cores as the one that
// begins it, and end with it.
std::optional<Error> error_with(const Strength& strength, CallRef<void()> fn) {
  if (!strength.is_known || strength.num_threads <= num_threads()) return error_of(fn);
  std::optional<Error> error;
  std::thread worker;
  try {
    worker = std::thread([&, own_threads = num_threads()] {
      const bool has_all = sched_setaffinity(0, sizeof strength.cores, &strength.cores) == 0;
      omp_set_num_threads(has_all ? strength.num_threads : own_threads);
      error = error_of(fn);
    });
  } catch (const std::system_error&) {  // no thread to be had
    return error_of(fn);
  }
  worker.join();
  return error;
}

}  // namespace

void run_alone(const Comm& comm, int root, CallRef<void()> fn) {
  if (comm.size() == 1) return fn();
  const OneProcessWorks patience;
  const auto strength = strength_of_machine(comm);
  std::optional<Error> error;
  if (comm.rank() == root) error = error_with(strength, fn);
  comm.barrier_asleep();
  throw_together(comm, error);
}

}  // namespace polyad
