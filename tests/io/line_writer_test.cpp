#include "polyad/io/text/line_writer.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>

#include "polyad/base/text_buffer.hpp"
#include "tests/support/generated.hpp"

namespace polyad::io {
namespace {

// Line z is its number, followed by a given number of characters.
AppendLine lines_with(std::function<Index(Index)> more) {
  return [more](std::string& text, Index z) {
    text += std::to_string(z);
    text.append(std::size_t(more(z)), '.');
    text += '\n';
  };
}

struct Written {
  std::string text;
  Index largest = 0;  // of the pieces
};

Written write(Index count, const AppendLine& append_line) {
  Written result;
  write_lines(
      [&](std::string_view piece) {
        result.text += piece;
        result.largest = std::max(result.largest, std::ssize(piece));
      },
      count, append_line);
  return result;
}

std::string one_after_the_other(Index count, const AppendLine& append_line) {
  std::string text;
  for (Index z = 0; z < count; ++z) append_line(text, z);
  return text;
}

TEST(LineWriter, writes_all_lines_in_order) {
  const auto mixed = lines_with([](Index z) { return z % 1000 == 0 ? 20000 : z % 7; });
  for (const int threads : {1, 3, 8}) {
    const test::Threads with(threads);
    for (const Index count : {0, 1, 2, 255, 5000, 100000})
      EXPECT_EQ(write(count, mixed).text, one_after_the_other(count, mixed)) << count;
  }
}

// As when OpenMP gives a later parallel region fewer threads.
TEST(LineWriter, writes_no_line_twice_when_the_team_shrinks) {
  const test::Threads with(4);
  const auto lines = lines_with([](Index) { return 10; });
  std::string text;
  write_lines(
      [&](std::string_view piece) {
        text += piece;
        omp_set_num_threads(1);
      },
      5000, lines);
  EXPECT_EQ(text, one_after_the_other(5000, lines));
}

// The text of a matrix may be many times as large as the memory that is left.
TEST(LineWriter, holds_little_text_at_a_time) {
  for (const int threads : {1, 4}) {
    const test::Threads with(threads);
    for (const Index length : {10, 200, 5000}) {
      const auto lines = lines_with([&](Index) { return length; });
      const Index count = 5 * max_text_bytes / length;
      const auto written = write(count, lines);
      EXPECT_EQ(written.text, one_after_the_other(count, lines));
      EXPECT_LE((written.largest - length - 20) * threads, max_text_bytes) << length;
      EXPECT_GE(written.largest * threads, max_text_bytes / 4) << length;
    }
  }
}

// As rows of zeros are followed by others.
TEST(LineWriter, holds_little_text_where_lines_become_longer) {
  for (const int threads : {1, 3}) {
    const test::Threads with(threads);
    const Index short_lines = 300000, count = short_lines + 2000;
    const auto lines = lines_with([&](Index z) { return z < short_lines ? 1 : 10000; });
    const auto written = write(count, lines);
    EXPECT_EQ(written.text, one_after_the_other(count, lines));
    EXPECT_LE((written.largest - 10020) * threads, max_text_bytes);
  }
}

TEST(LineWriter, writes_lines_that_are_longer_than_all_it_holds) {
  const test::Threads with(2);
  const auto lines = lines_with([](Index) { return max_text_bytes; });
  EXPECT_EQ(write(5, lines).text, one_after_the_other(5, lines));
}

}  // namespace
}  // namespace polyad::io
