#pragma once
// For the main of tests that run on several ranks: every rank runs every test, rank 0 prints the results, the
// others speak up only to report a failure, and all end with the same exit code.

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <utility>

#include "polyad/comm/comm.hpp"
#include "tests/support/chosen_tests.hpp"

namespace polyad::test {

class FailurePrinter : public testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(int rank) : rank_(rank) {}

 private:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::printf("[rank %d] %s:%d: %s\n", rank_, result.file_name() != nullptr ? result.file_name() : "?",
                result.line_number(), result.message());
    std::fflush(stdout);
  }

  int rank_;
};

// A rank that leaves a test early (an assertion, an exception) would be waited for by the others for
// ever, or would mix up its next test with their last one.
class Together : public testing::EmptyTestEventListener {
 public:
  Together(Comm comm, std::function<void()> stop_all)
      : comm_(std::move(comm)), stop_all_(std::move(stop_all)) {}

 private:
  static constexpr double arrival_seconds = 300;  // a busy machine may need a minute

  void OnTestEnd(const testing::TestInfo& test) override {
    if (comm_.all_arrive_within(arrival_seconds)) return;
    std::printf("[rank %d] not all ranks reached the end of %s.%s\n", comm_.rank(), test.test_suite_name(),
                test.name());
    stop_all_();
  }

  Comm comm_;
  std::function<void()> stop_all_;
};

// The exit code of main, the same on all ranks. After testing::InitGoogleTest. Collective.
inline int run_tests_together(const Comm& comm, std::function<void()> stop_all) {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (comm.rank() == 0) {
    listeners.Append(new SkipPrinter);  // gtest owns it
  } else {
    const std::unique_ptr<testing::TestEventListener> silenced(
        listeners.Release(listeners.default_result_printer()));
    listeners.Append(new FailurePrinter(comm.rank()));  // gtest owns it
    GTEST_FLAG_SET(output, "");                         // rank 0 writes the file
  }
  auto* together = new Together(comm.split(0, comm.rank()), std::move(stop_all));
  listeners.Append(together);
  const int code = comm.all_reduce(RUN_ALL_TESTS(), Reduce::max);
  delete listeners.Release(together);  // while its communicator can be freed
  return code;
}

}  // namespace polyad::test
