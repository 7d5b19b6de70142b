#pragma once
// Private to the files of comm/ that use MPI.

#include <atomic>
#include <cstdint>
#include <memory>

#include "polyad/comm/mpi_comm.hpp"

namespace polyad::mpi {

// What a process may wait in.
enum class Call : std::uint32_t {
  none,
  all_reduce,
  broadcast,
  all_gather,
  all_to_all,
  reduce_scatter,
  split,
  barrier,
  message,
  finalize
};

// What a process shows the others on its machine, in memory that they share. Its main thread writes the first
// ones, its watchdog the rest.
struct alignas(64) LifeSigns {
  std::atomic<std::uint64_t> calls{0};  // that were begun or ended: odd while one is under way
  std::atomic<Call> call{Call::none};   // the last one
  std::atomic<int> patience{0};         // how many OneProcessWorks there are
  std::atomic<int> number{0};           // by which the system knows it, ...
  std::atomic<std::uint64_t> space{0};  // ... among the processes of this namespace; 0: not known
  std::atomic<bool> is_watched{false};  // it has a watchdog, which shows what follows
  std::atomic<std::uint64_t> beats{0};  // grows while the process is not stopped
  std::atomic<std::uint64_t> works{0};  // grows while it uses the processor
};

// Those of this process: where the others see them, once a watchdog runs.
LifeSigns& own_signs() noexcept;

// While it lives, the process is in a call of MPI that may wait for other processes.
class Waiting {
 public:
  explicit Waiting(Call call) noexcept : signs_(own_signs()) {
    signs_.call.store(call, std::memory_order_relaxed);
    signs_.calls.fetch_add(1, std::memory_order_release);
  }
  ~Waiting() { signs_.calls.fetch_add(1, std::memory_order_release); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  LifeSigns& signs_;
};

// A thread that ends the run when this process has waited in one call for so many seconds and those on its
// machine that it may wait for give no sign: it names them. A process that computes gives signs by using the
// processor, and is waited for however long it takes. One that the system says is stopped (SIGSTOP, SIGTSTP)
// or has ended is waited for a few seconds only; one that a debugger has stopped, as long as others. Time
// during which this process itself is stopped does not count, so that a whole run may be stopped and go on.
class Watchdog {
 public:
  // Watches the processes of `everyone`, which must outlive it. 0: only shows signs of life to the others.
  // Collective over `everyone`, as is the destructor.
  Watchdog(MPI_Comm everyone, double seconds);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace polyad::mpi
