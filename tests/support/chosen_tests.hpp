#pragma once
// For the main of test programs, each of which holds the tests of a folder: its arguments are the files whose
// tests are run. `kernels_tests mttkrp` runs those of mttkrp_test.cpp; without arguments all are run.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

namespace polyad::test {

// The filter of Google Test for the tests of one file; empty if there are none.
inline std::string tests_in_file(std::string_view name) {
  const std::string ending = "/" + std::string(name) + "_test.cpp";
  const auto& all = *testing::UnitTest::GetInstance();
  std::string filter;
  for (int s = 0; s < all.total_test_suite_count(); ++s)
    for (int t = 0; t < all.GetTestSuite(s)->total_test_count(); ++t) {
      const auto& test = *all.GetTestSuite(s)->GetTestInfo(t);
      if (std::string_view(test.file()).ends_with(ending))
        filter += std::string(test.test_suite_name()) + "." + test.name() + ":";
    }
  return filter;
}

// After testing::InitGoogleTest. False, with a message, if a named file has no tests, or there is a filter
// besides.
inline bool choose_tests(int argc, char** argv) {
  if (argc > 1 && GTEST_FLAG_GET(filter) != "*") {
    std::fprintf(stderr, "%s: expected names of files or --gtest_filter, found both\n", argv[0]);
    return false;
  }
  std::string filter;
  for (int i = 1; i < argc; ++i) {
    const auto tests = tests_in_file(argv[i]);
    if (tests.empty()) {
      std::fprintf(stderr, "%s has no tests of a file %s_test.cpp\n", argv[0], argv[i]);
      return false;
    }
    filter += tests;
  }
  if (!filter.empty()) GTEST_FLAG_SET(filter, filter);
  return true;
}

// "[skipped] NAME: REASON" on a line of its own, which tools/run_ctest.py collects.
class SkipPrinter : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& test) override {
    name_ = std::string(test.test_suite_name()) + "." + test.name();
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.skipped()) return;
    std::string reason = result.message();
    std::ranges::replace(reason, '\n', ' ');
    std::printf("[skipped] %s: %s\n", name_.c_str(), reason.c_str());
    std::fflush(stdout);
  }

  std::string name_;  // while a result is reported, Google Test cannot be asked for it
};

// The exit code that CTest shows as skipped.
constexpr int all_skipped_code = 77;

// RUN_ALL_TESTS, with a line for each test that is skipped.
inline int run_and_print_skipped() {
  auto& all = *testing::UnitTest::GetInstance();
  all.listeners().Append(new SkipPrinter);  // gtest owns it
  const int code = RUN_ALL_TESTS();
  const bool skipped_all = all.skipped_test_count() > 0 && all.successful_test_count() == 0;
  return code == 0 && skipped_all ? all_skipped_code : code;
}

}  // namespace polyad::test
