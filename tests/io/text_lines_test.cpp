#include "polyad/io/text/text_lines.hpp"

#include <gtest/gtest.h>

#include "polyad/base/error.hpp"
#include "polyad/base/random.hpp"
#include "polyad/io/bytes/output_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad::io {
namespace {

// Lines of random lengths, some empty, some longer than any buffer.
std::string random_text(Index num_lines, std::uint64_t seed, Index longest) {
  std::string text;
  for (Index i = 0; i < num_lines; ++i) {
    const auto length = Random(seed, 0).below(std::uint64_t(longest), std::uint64_t(i));
    text += std::to_string(i) + std::string(i % 5 == 0 ? 0 : length, 'x') + "\n";
  }
  return text;
}

std::filesystem::path write_gzip(const test::TemporaryFolder& folder, const std::string& text) {
  OutputFile out(folder / "text.gz", OutputFile::Compression::gzip);
  out.write(text);
  out.commit();
  return folder / "text.gz";
}

// All lines that a share's threads see, in order; checks that pieces are whole lines at their offsets.
std::string share_of(const std::filesystem::path& path, const std::string& whole, Share share, int threads) {
  const InputFile file(path);
  std::string seen;
  for_each_range(file, 0, share, [&](const TextRange& range) {
    for (int thread = 0; thread < threads; ++thread)
      range.for_each_piece({thread, threads}, [&](const TextPiece& piece) {
        EXPECT_EQ(piece.lines.back(), '\n');
        EXPECT_TRUE(piece.offset == 0 || whole[piece.offset - 1] == '\n');
        EXPECT_EQ(whole.compare(piece.offset, piece.lines.size(), piece.lines), 0);
        seen += piece.lines;
        return true;
      });
  });
  return seen;
}

TEST(TextLines, shares_put_together_are_the_whole_for_any_number_of_shares_and_threads) {
  const test::TemporaryFolder folder;
  for (const auto& [lines, longest] :
       {std::pair<Index, Index>{0, 1}, {1, 5}, {3, 400'000}, {500, 40}, {40'000, 30}}) {
    const std::string text = random_text(lines, 3, longest);
    const auto plain = folder.write("text", text), gzip = write_gzip(folder, text);
    for (const auto& path : {plain, gzip})
      for (const int parts : {1, 2, 3, 7, 40})
        for (const int threads : {1, 4}) {
          std::string seen;
          for (int part = 0; part < parts; ++part) seen += share_of(path, text, {part, parts}, threads);
          ASSERT_EQ(seen, text) << path << " " << lines << " lines, " << parts << " parts, " << threads
                                << " threads";
        }
  }
}

TEST(TextLines, large_shares_are_of_nearly_equal_size) {
  const test::TemporaryFolder folder;
  const std::string text = random_text(100'000, 3, 30);
  for (const auto& path : {folder.write("text", text), write_gzip(folder, text)})
    for (int part = 0; part < 4; ++part) {
      const auto size = double(share_of(path, text, {part, 4}, 2).size());
      EXPECT_NEAR(size / double(text.size()), 0.25, 0.05) << path;
    }
}

TEST(TextLines, the_last_line_may_lack_its_end) {
  const test::TemporaryFolder folder;
  for (const auto& path : {folder.write("text", "a\nb"), write_gzip(folder, "a\nb")})
    EXPECT_EQ(share_of(path, "a\nb\n", {0, 1}, 3), "a\nb\n");
}

TEST(TextLines, gzip_of_several_members_is_one_text) {
  const test::TemporaryFolder folder;
  const std::string first = test::contents(write_gzip(folder, "a\nb")),
                    second = test::contents(write_gzip(folder, "c\nd\n"));
  const auto path = folder.write("both.gz", first + second);

  EXPECT_EQ(share_of(path, "a\nbc\nd\n", {0, 1}, 2), "a\nbc\nd\n");
}

TEST(TextLines, zeros_behind_gzip_are_padding_and_long_lines_stay_whole) {
  const test::TemporaryFolder folder;
  const std::string text = "# " + std::string(18 << 20, 'x') + "\nb\n";
  const auto path =
      folder.write("padded.gz", test::contents(write_gzip(folder, text)) + std::string(100, '\0'));

  EXPECT_EQ(share_of(path, text, {0, 1}, 2), text);
}

TEST(TextLines, truncated_or_damaged_gzip_is_an_error_at_any_place) {
  const test::TemporaryFolder folder;
  const std::string text = random_text(300, 9, 20), good = test::contents(write_gzip(folder, text));
  for (std::size_t keep = 3; keep < good.size(); keep += 7)
    EXPECT_THROW(share_of(folder.write("cut.gz", good.substr(0, keep)), text, {0, 1}, 1), Error) << keep;
  for (std::size_t at = good.size() - 8; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = char(bad[at] ^ 1);
    EXPECT_THROW(share_of(folder.write("bad.gz", bad), text, {0, 1}, 1), Error) << at;
  }
}

TEST(LineReader, numbers_lines_and_knows_where_they_begin) {
  const test::TemporaryFolder folder;
  const InputFile file(folder.write("text", "ab\r\n\nc"));
  LineReader lines(file);
  std::string_view line;

  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line, "ab");
  EXPECT_EQ(lines.line_number(), 1);
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line, "");
  EXPECT_EQ(lines.line_begin(), 4);
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line, "c");
  EXPECT_EQ(lines.line_number(), 3);
  EXPECT_EQ(lines.line_begin(), 5);
  EXPECT_FALSE(lines.next(line));
}

TEST(LineReader, line_numbers_of_offsets_agree_with_counting) {
  const test::TemporaryFolder folder;
  const std::string text = random_text(200, 4, 900);
  for (const auto& path : {folder.write("text", text), write_gzip(folder, text)}) {
    const InputFile file(path);
    for (Index offset = 0; offset < Index(text.size()); offset += 1371)
      EXPECT_EQ(line_number_at(file, offset), 1 + std::count(text.begin(), text.begin() + offset, '\n'));
  }
}

}  // namespace
}  // namespace polyad::io
