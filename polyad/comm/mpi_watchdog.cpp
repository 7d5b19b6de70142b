#include "polyad/comm/mpi_watchdog.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace polyad::mpi {
namespace {

constexpr int exit_of_resource = 3;
constexpr double shortest_tick = 0.05, longest_tick = 1;
constexpr double working_share = 0.002;  // of the time between two ticks: less is not called work
constexpr int max_named = 10;
constexpr double longest_stop = 10;  // seconds that a process may be stopped while another waits

constinit std::atomic<LifeSigns*> shown_signs{nullptr};

const char* name_of(Call call) {
  constexpr std::array names{"no call",      "MPI_Allreduce",      "MPI_Bcast",      "MPI_Allgather",
                             "MPI_Alltoall", "MPI_Reduce_scatter", "MPI_Comm_split", "MPI_Barrier",
                             "MPI_Wait",     "MPI_Finalize"};
  return names.at(std::size_t(call));
}

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

std::string seconds_text(double seconds) {
  auto text = std::to_string(seconds);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + " s";
}

std::string list_of(std::span<const int> ranks) {
  std::string text = ranks.size() == 1 ? "process " : "processes ";
  for (std::size_t i = 0; i < std::min<std::size_t>(ranks.size(), max_named); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  return text + (ranks.size() > max_named ? ", ..." : "");
}

// MPI aligns shared memory for numbers only. Every process maps it at the beginning of a page, so all find
// the same place in it.
constexpr std::size_t bytes_with_padding = sizeof(LifeSigns) + alignof(LifeSigns);
void* aligned(void* bytes) {
  std::size_t space = bytes_with_padding;
  return std::align(alignof(LifeSigns), sizeof(LifeSigns), bytes, space);
}

// Of process numbers, as the system counts them; 0: not known.
std::uint64_t own_number_space() {
  struct stat space {};
  return stat("/proc/self/ns/pid", &space) == 0 ? std::uint64_t(space.st_ino) : 0;
}

// The letter by which the system describes the state of a process: T, if it is stopped. 'X': there is none.
char state_of(int number) {
  const std::string path = "/proc/" + std::to_string(number) + "/stat";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT ? 'X' : '?';
  std::array<char, 256> text{};
  const auto size = read(file, text.data(), text.size());
  close(file);
  const std::string_view words(text.data(), std::size_t(std::max<ssize_t>(size, 0)));
  const auto end_of_name = words.rfind(") ");
  return end_of_name == std::string_view::npos || end_of_name + 2 >= words.size() ? '?'
                                                                                  : words[end_of_name + 2];
}

// How long each sign of a process has been the same.
struct Observed {
  std::uint64_t calls = 0, beats = 0, works = 0;
  double same_calls = 0, same_beats = 0, same_works = 0;  // seconds

  static void update(std::uint64_t& before, double& same, std::uint64_t now, double elapsed) {
    same = now == before ? same + elapsed : 0;
    before = now;
  }
  void update(const LifeSigns& signs, double elapsed) {
    update(calls, same_calls, signs.calls.load(std::memory_order_acquire), elapsed);
    update(beats, same_beats, signs.beats.load(std::memory_order_relaxed), elapsed);
    update(works, same_works, signs.works.load(std::memory_order_relaxed), elapsed);
  }
  bool is_in_call() const { return calls % 2 == 1; }
};

}  // namespace

LifeSigns& own_signs() noexcept {
  static LifeSigns alone;
  LifeSigns* shown = shown_signs.load(std::memory_order_relaxed);
  return shown != nullptr ? *shown : alone;
}

struct Watchdog::State {
  State(MPI_Comm everyone, double limit) : all(everyone), seconds(limit) {
    MPI_Comm_rank(all, &rank);
    int size = 1, local_size = 1;
    MPI_Comm_size(all, &size);
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &local_size);
    MPI_Comm_rank(machine, &self);
    has_remote = local_size < size;
    ranks.resize(std::size_t(local_size));
    MPI_Allgather(&rank, 1, MPI_INT, ranks.data(), 1, MPI_INT, machine);
    map_signs();
    observed.resize(ranks.size());
  }

  // Processes that cannot share memory are not watched.
  void map_signs() {
    void* bytes_of_mine = nullptr;
    if (MPI_Win_allocate_shared(bytes_with_padding, 1, MPI_INFO_NULL, machine, &bytes_of_mine, &window) !=
        MPI_SUCCESS)
      return;
    auto* mine = new (aligned(bytes_of_mine)) LifeSigns;
    mine->number.store(int(getpid()));
    mine->space.store(own_number_space());
    MPI_Barrier(machine);
    for (int r = 0; r < int(ranks.size()); ++r) {
      MPI_Aint bytes = 0;
      int unit = 0;
      void* bytes_of_theirs = nullptr;
      MPI_Win_shared_query(window, r, &bytes, &unit, &bytes_of_theirs);
      signs.push_back(static_cast<LifeSigns*>(aligned(bytes_of_theirs)));
    }
    shown_signs.store(mine);
  }

  void watch(const std::stop_token& stop) {
    signs[self]->is_watched.store(true);
    using Clock = std::chrono::steady_clock;
    const double tick = seconds > 0 ? std::clamp(seconds / 20, shortest_tick, longest_tick) : longest_tick;
    auto last = Clock::now();
    double used = processor_seconds();
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(tick, 0.1)));
      const double elapsed = std::chrono::duration<double>(Clock::now() - last).count();
      if (elapsed < tick) continue;
      last = Clock::now();
      const double now_used = processor_seconds();
      show(now_used - used > working_share * elapsed);
      used = now_used;
      for (std::size_t r = 0; r < signs.size(); ++r)
        observed[r].update(*signs[r], std::min(elapsed, 2 * tick));
      if (seconds > 0) judge();
    }
  }

  void show(bool works) {
    signs[self]->beats.fetch_add(1, std::memory_order_relaxed);
    if (works) signs[self]->works.fetch_add(1, std::memory_order_relaxed);
  }

  // What the system says of a process on this machine; ?: it cannot be asked.
  char state_of_process(std::size_t r) const {
    const auto space = signs[r]->space.load();
    return space != 0 && space == signs[self]->space.load() ? state_of(signs[r]->number.load()) : '?';
  }

  // Ends the run if processes do not go on by themselves.
  void judge_halted(double limit) const {
    std::vector<int> stopped, dead;
    bool is_first = true;
    for (std::size_t r = 0; r < observed.size(); ++r) {
      const bool is_silent = signs[r]->is_watched.load() && observed[r].same_beats >= limit;
      const char state = is_silent ? state_of_process(r) : '?';
      if (state == 'T')
        stopped.push_back(ranks[r]);
      else if (state == 'Z' || state == 'X')
        dead.push_back(ranks[r]);
      else if (int(r) < self && observed[r].is_in_call())
        is_first = false;
    }
    if (!is_first && observed[self].same_calls < limit + grace) return;
    if (!dead.empty()) end_for(dead, " ended", "");
    if (!stopped.empty())
      end_for(stopped, " been stopped for " + seconds_text(limit), limit < longest_stop ? limit_is_set : "");
  }

  // Of those that are not stopped, the one with the lowest rank speaks first.
  void judge() {
    const auto& own = observed[self];
    const double limit = std::min(longest_stop, seconds);
    if (own.is_in_call() && own.same_calls >= limit) judge_halted(limit);
    if (!own.is_in_call() || own.same_calls < seconds) return;
    std::vector<int> silent;
    bool is_first = true, somebody_works = false, all_wait = true;
    for (std::size_t r = 0; r < observed.size(); ++r) {
      const auto& other = observed[r];
      const bool is_stopped = signs[r]->is_watched.load() && other.same_beats >= seconds / 2;
      const bool is_idle = signs[r]->is_watched.load() && signs[r]->patience.load() == 0 &&
                           !other.is_in_call() && other.same_calls >= seconds / 2 &&
                           other.same_works >= seconds / 2;
      if (is_stopped || is_idle) {
        silent.push_back(ranks[r]);
        continue;
      }
      if (int(r) < self && other.is_in_call()) is_first = false;
      if (!other.is_in_call()) somebody_works = true;
      if (!other.is_in_call() || other.same_calls < seconds / 2) all_wait = false;
    }
    if (!is_first && own.same_calls < seconds + grace) return;
    if (!silent.empty()) end_for(silent, " not answered for " + seconds_text(seconds), limit_is_set);
    if (somebody_works || !all_wait) return;
    if (!has_remote)
      end("all processes wait for each other for " + seconds_text(seconds) + ": " + places() + limit_is_set);
    if (signs[self]->patience.load() == 0)
      end("processes on other machines have not answered for " + seconds_text(seconds) + ": " + places() +
          limit_is_set);
  }

  [[noreturn]] void end_for(std::span<const int> others, const std::string& what_they_have,
                            const char* hint) const {
    end(list_of(others) + (others.size() == 1 ? " has" : " have") + what_they_have + ": process " +
        std::to_string(rank) + " waits in " + name_of(signs[self]->call.load()) + hint);
  }

  std::string places() const {
    std::string text;
    for (std::size_t r = 0; r < std::min<std::size_t>(signs.size(), max_named); ++r)
      text += (r == 0 ? "process " : ", process ") + std::to_string(ranks[r]) + " waits in " +
              name_of(signs[r]->call.load());
    return text;
  }

  // The main thread is inside MPI and does not return, so it must not be involved.
  [[noreturn]] static void end(const std::string& sentence) {
    const std::string line = "polyad: " + sentence + "\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
    constexpr unsigned patience_with_mpi = 10;
    alarm(patience_with_mpi);
    MPI_Abort(MPI_COMM_WORLD, exit_of_resource);
    std::_Exit(exit_of_resource);
  }

  static constexpr double grace = 3;  // seconds, for another process to speak
  static constexpr const char* limit_is_set = "; POLYAD_TIMEOUT sets the limit";

  MPI_Comm all;
  double seconds;
  int rank = 0, self = 0;  // of all processes; of those on this machine
  bool has_remote = false;
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Win window = MPI_WIN_NULL;
  std::vector<int> ranks;          // [process on this machine]
  std::vector<LifeSigns*> signs;   // likewise; empty where memory cannot be shared
  std::vector<Observed> observed;  // likewise
  std::jthread thread;
};

Watchdog::Watchdog(MPI_Comm everyone, double seconds) : state_(std::make_unique<State>(everyone, seconds)) {
  if (state_->signs.empty()) return;
  // Signals are for the main thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    state_->thread =
        std::jthread([state = state_.get()](const std::stop_token& stop) { state->watch(stop); });
  } catch (const std::system_error&) {  // no thread is left for it: this process is taken for stopped only if
                                        // it waits
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Watchdog::~Watchdog() {
  {
    const Waiting waiting(Call::finalize);
    MPI_Barrier(state_->all);
  }
  shown_signs.store(nullptr);
  if (state_->thread.joinable()) {
    state_->thread.request_stop();
    state_->thread.join();
  }
  if (state_->window != MPI_WIN_NULL) MPI_Win_free(&state_->window);
  MPI_Comm_free(&state_->machine);
}

}  // namespace polyad::mpi
