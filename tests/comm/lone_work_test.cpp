#include "polyad/comm/lone_work.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <string>
#include <thread>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"

namespace polyad {
namespace {

cpu_set_t own_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  EXPECT_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
  return cores;
}

TEST(Alone, returns_on_one_rank_what_the_function_returns) {
  const Comm comm = Comm::world();
  for (int root = 0; root < comm.size(); ++root) {
    EXPECT_EQ(alone(comm, root, [&] { return 7 + comm.rank(); }), comm.rank() == root ? 7 + root : 0);
    const auto text = alone(comm, root, [&] { return std::to_string(root); });
    EXPECT_EQ(text, comm.rank() == root ? std::to_string(root) : "");
    int calls = 0;
    alone(comm, root, [&] { ++calls; });
    EXPECT_EQ(calls, comm.rank() == root ? 1 : 0);
  }
}

TEST(Alone, an_error_is_thrown_on_all_ranks) {
  const Comm comm = Comm::world();
  for (int root = 0; root < comm.size(); ++root) {
    const auto fails = [&] { throw Error(Errc::bad_input, "of " + std::to_string(root), {"x.tns", 3}); };
    try {
      alone(comm, root, fails);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::bad_input);
      EXPECT_EQ(error.message(), "of " + std::to_string(root));
      EXPECT_EQ(error.input().file, "x.tns");
      EXPECT_EQ(error.input().line, 3);
    }
  }
}

// All ranks of the tests are on one machine.
TEST(Alone, has_the_threads_and_cores_of_all_ranks) {
  const Comm comm = Comm::world();
  const auto before = own_cores();
  const int own_threads = num_threads();
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const auto& cores : comm.all_gather(before)) CPU_OR(&all, &all, &cores);
  const int most = std::min(comm.all_reduce(own_threads), CPU_COUNT(&all));
  for (int root = 0; root < comm.size(); ++root) {
    std::atomic<int> count{0};
    cpu_set_t cores = before;
    const int threads = alone(comm, root, [&] {
      cores = own_cores();
      parallel_parts(1000, [&](Index begin, Index end, int) { count += int(end - begin); });
      return num_threads();
    });
    EXPECT_EQ(num_threads(), own_threads);
    const auto after = own_cores();
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
    if (comm.rank() != root) continue;
    EXPECT_EQ(threads, std::max(most, own_threads));
    EXPECT_EQ(count, 1000);
    if (most > own_threads) {
      EXPECT_TRUE(CPU_EQUAL(&cores, &all));
    }
  }
}

TEST(Alone, the_others_sleep) {
  const Comm comm = Comm::world();
  if (comm.size() == 1) return;
  timespec begin{}, end{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  alone(comm, 0, [] { std::this_thread::sleep_for(std::chrono::milliseconds(300)); });
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  const double used = double(end.tv_sec - begin.tv_sec) + 1e-9 * double(end.tv_nsec - begin.tv_nsec);
  EXPECT_LT(used, 0.25);
}

}  // namespace
}  // namespace polyad
