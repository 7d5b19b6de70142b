#include "polyad/base/progress.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "tests/support/temporary_folder.hpp"

namespace polyad {
namespace {

TEST(Progress, a_log_line_tells_share_rate_and_time_left) {
  EXPECT_EQ(progress_line("reading x.tns", 450'000'000, 1'000'000'000, "B", 1.5),
            "reading x.tns: 45 % of 1 GB, 300 MB/s, 2 s left");
  EXPECT_EQ(progress_line("inflating", 2'500'000, 0, "B", 2), "inflating: 2.5 MB, 1.25 MB/s");
  EXPECT_EQ(progress_line("sorting", 0, 0, "", 61), "sorting: 1 min 01 s");
  EXPECT_EQ(progress_line("p", 0, 10, "rows", 0), "p: 0 % of 10 rows, 0 rows/s");
  EXPECT_EQ(progress_line("p", 1, 7300, "", 1), "p: 0 % of 7.3 k, 1 /s, 2 h 01 min left");
}

TEST(Progress, prefixes_follow_the_size) {
  EXPECT_EQ(with_prefix(0, "B"), "0 B");
  EXPECT_EQ(with_prefix(999, "B"), "999 B");
  EXPECT_EQ(with_prefix(1000, "B"), "1 kB");
  EXPECT_EQ(with_prefix(999'600, "B"), "1 MB");
  EXPECT_EQ(with_prefix(1.5e12, "B"), "1.5 TB");
}

// What is shown in so many seconds; where they are not given, up to the first line, which may take long on a
// busy machine.
std::string shown(Progress::Style style, std::optional<double> seconds = {}) {
  const test::TemporaryFolder folder;
  const auto path = folder / "log";
  std::FILE* out = std::fopen(path.c_str(), "w");
  {
    Progress progress(style, out);
    progress.begin("sorting", 200, "rows");
    progress.advance(100);
    progress.show_figure("fit 0.25");
    if (seconds) std::this_thread::sleep_for(std::chrono::duration<double>(*seconds));
    for (int i = 0; i < 600 && !seconds && test::contents(path).empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  std::fclose(out);
  return test::contents(path);
}

TEST(Progress, short_phases_and_silent_ones_say_nothing) {
  EXPECT_EQ(shown(Progress::Style::log, 0), "");
  EXPECT_EQ(shown(Progress::Style::terminal, 0), "");
  EXPECT_EQ(shown(Progress::Style::silent, 1.4), "");
}

TEST(Progress, a_log_gets_plain_lines_and_a_terminal_a_bar) {
  const std::string log = shown(Progress::Style::log), terminal = shown(Progress::Style::terminal);

  EXPECT_TRUE(log.starts_with("sorting: 50 % of 200 rows")) << log;
  EXPECT_EQ(log.find('\r'), std::string::npos);
  EXPECT_TRUE(terminal.starts_with("\r[############............] sorting: 50 %")) << terminal;
  EXPECT_NE(log.find(" left, fit 0.25\n"), std::string::npos) << log;
  EXPECT_NE(terminal.find(" left, fit 0.25\x1b[K"), std::string::npos) << terminal;
  EXPECT_NE(log.find("\nsorting: 100 rows in "), std::string::npos) << log;
  EXPECT_TRUE(log.ends_with(" s, fit 0.25\n")) << log;
}

TEST(Progress, a_new_phase_has_no_figure_yet) {
  std::string last;  // read when a phase has ended
  std::atomic<int> calls = 0;
  Progress progress([&](const ProgressState& state) {
    last = state.phase + ": " + state.figure;
    ++calls;
  });
  auto wait_for_call = [&, before = 0]() mutable {
    while (calls <= before) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    progress.finish();
    before = calls;
  };
  progress.begin("first");
  progress.show_figure("fit 0.5");
  wait_for_call();
  EXPECT_EQ(last, "first: fit 0.5");
  progress.begin("second");
  wait_for_call();
  EXPECT_EQ(last, "second: ");
}

}  // namespace
}  // namespace polyad
