// Exceptions of callbacks, and processes that run out of memory alone: no process waits for another.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "polyad/polyad.hpp"
#include "tests/support/random_ratings.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/shares.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad {
namespace {

struct Stranger {  // no std::exception
  int value = 0;
};

// It has duplicates, which decompose warns of.
Tensor some_tensor(const Comm& comm) {
  return make_tensor(test::share_of(test::random_tensor({30, 20, 10}, 300, 3), comm));
}

// The process that throws gets its own exception, the others an Error.
template <class Work>
void expect_stranger(const Comm& comm, int culprit, Work work) {
  try {
    work();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Stranger& own) {
    EXPECT_EQ(comm.rank(), culprit);
    EXPECT_EQ(own.value, 7);
  } catch (const Error& error) {
    EXPECT_NE(comm.rank(), culprit);
    EXPECT_EQ(std::string(error.what()),
              "a callback failed on process " + std::to_string(culprit) + ": an exception of unknown type");
  }
}

TEST(Callbacks, ObserversThrowAsTheyAre) {
  const Context context(Comm::world());
  const Comm& comm = context.comm();
  const int culprit = comm.size() - 1;
  const auto throws = [&] {
    if (comm.rank() == culprit) throw Stranger{7};
    return true;
  };
  expect_stranger(comm, culprit, [&] {
    decompose(context, some_tensor(comm),
              {.rank = 2, .observer = [&](const CpProgress&) { return throws(); }});
  });
  const auto ratings = make_tensor(test::share_of(test::random_ratings({30, 20, 1, 200}, 5), comm));
  expect_stranger(comm, culprit, [&] {
    complete(context, ratings, {.factors = 2, .observer = [&](const EpochRecord&) { return throws(); }});
  });
  const auto a = make_dense(context, {4, 4});
  expect_stranger(comm, culprit, [&] {
    contract(context, "ij,jk->ik", a, a, {.on_plan = [&](const std::string&) { throws(); }});
  });
  const auto model = decompose(context, some_tensor(comm), {.rank = 2, .max_iterations = 2});
  expect_stranger(comm, 0,
                  [&] { model.read_factor(0, [](Index, const Matrix<double>&) { throw Stranger{7}; }); });
  EXPECT_EQ(model.factor(0).num_rows(), 30);  // all are still together
}

TEST(Callbacks, MessagesThrowWhenTheTaskHasEnded) {
  int calls = 0;
  const Context context(Comm::world(), {.on_message = [&](const Message&) {
                          ++calls;
                          throw Stranger{7};
                        }});
  const Comm& comm = context.comm();
  for (int i = 0; i < 2; ++i)
    expect_stranger(comm, 0,
                    [&] { decompose(context, some_tensor(comm), {.rank = 2, .max_iterations = 2}); });
  EXPECT_EQ(calls, comm.rank() == 0 ? 2 : 0);
}

TEST(Callbacks, ProgressShowsTheFitSoFar) {
  using namespace std::chrono_literals;
  std::mutex mutex;
  std::string figure;
  const Context context(Comm::world(), {.on_progress = [&](const ProgressState& state) {
                          const std::lock_guard lock(mutex);
                          if (state.phase == "iterating") figure = state.figure;
                        }});
  const auto is_shown = [&](double fit) {
    const std::lock_guard lock(mutex);
    return figure.starts_with("fit ") && std::abs(std::stod(figure.substr(4)) - fit) < 1e-6;
  };
  int iterations = 0;
  decompose(context, some_tensor(context.comm()),
            {.rank = 2, .max_iterations = 2, .tolerance = 0, .observer = [&](const CpProgress& progress) {
               ++iterations;
               while (context.comm().rank() == 0 && !is_shown(progress.fit))
                 std::this_thread::sleep_for(10ms);
               return true;
             }});
  EXPECT_EQ(iterations, 2) << "each of which waited for its fit";
}

TEST(Callbacks, ProgressThrowsWhenTheTaskHasEnded) {
  using namespace std::chrono_literals;
  std::atomic<int> calls = 0;
  int iterations = 0;
  const Context context(Comm::world(), {.on_progress = [&](const ProgressState&) {
                          ++calls;
                          throw Stranger{7};
                        }});
  const Comm& comm = context.comm();
  expect_stranger(comm, 0, [&] {
    decompose(context, some_tensor(comm),
              {.rank = 2, .max_iterations = 3, .tolerance = 0, .observer = [&](const CpProgress&) {
                 ++iterations;
                 // Long enough to be shown, on a busy machine too.
                 for (int i = 0; i < 600 && comm.rank() == 0 && calls == 0; ++i)
                   std::this_thread::sleep_for(100ms);
                 return true;
               }});
  });
  EXPECT_EQ(iterations, 3);
  EXPECT_EQ(calls, comm.rank() == 0 ? 1 : 0);
}

TEST(Callbacks, AModelIsSavedByTheProcessesThatHoldIt) {
  const Context context(Comm::world());
  const int size = context.comm().size();
  if (size == 1) return;
  const test::TemporaryFolder folder;
  const auto model = decompose(context, some_tensor(context.comm()), {.rank = 2, .max_iterations = 2});
  try {
    save(Context::serial(), model, folder / "model");
    ADD_FAILURE() << "saved";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_option);
    EXPECT_EQ(std::string(error.what()),
              "the model is distributed over " + std::to_string(size) + " processes; the context has 1");
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "model"));
}

// While it lives, this process gets no more than so many further bytes of addresses.
class FewAddresses {
 public:
  explicit FewAddresses(Index more) {
    getrlimit(RLIMIT_AS, &before_);
    Index pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit few = before_;
    few.rlim_cur = rlim_t(pages * 4096 + more);
    setrlimit(RLIMIT_AS, &few);
  }
  ~FewAddresses() { setrlimit(RLIMIT_AS, &before_); }
  FewAddresses(const FewAddresses&) = delete;
  FewAddresses& operator=(const FewAddresses&) = delete;

 private:
  rlimit before_{};
};

TEST(Callbacks, OneProcessWithoutMemoryLeavesNoOtherWaiting) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "sanitizers take all addresses";
#endif
  const Context context(Comm::world());
  const Comm& comm = context.comm();
  if (comm.size() == 1) return;
  const auto x = test::random_tensor({8000000, 4}, 50, 3);
  const auto model =
      decompose(context, make_tensor(test::share_of(x, comm)), {.rank = 2, .max_iterations = 1});
  try {
    const FewAddresses few(comm.rank() == 1 ? Index(32) << 20 : Index(8) << 30);
    model.factor(0);
    ADD_FAILURE() << "got a factor of 128 MB";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::resource);
    EXPECT_TRUE(std::string(error.what()).starts_with("out of memory: 128 MB were asked for, and about "))
        << error.what();
  }
  EXPECT_EQ(model.factor(1).num_rows(), 4);
}

}  // namespace
}  // namespace polyad
