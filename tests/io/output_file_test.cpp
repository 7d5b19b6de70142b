#include "polyad/io/output_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "polyad/base/error.hpp"
#include "polyad/io/byte_stream.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad::io {
namespace {

TEST(OutputFile, appears_only_when_it_is_committed) {
  const test::TemporaryFolder folder;
  {
    OutputFile out(folder / "x");
    out.write("half");
    EXPECT_FALSE(std::filesystem::exists(folder / "x"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
  EXPECT_FALSE(std::filesystem::exists(folder / "x.partial"));

  OutputFile out(folder / "x");
  out.write("whole");
  out.commit();

  EXPECT_EQ(test::contents(folder / "x"), "whole");
  EXPECT_FALSE(std::filesystem::exists(folder / "x.partial"));
}

TEST(OutputFile, an_older_file_stays_until_the_new_one_is_whole) {
  const test::TemporaryFolder folder;
  folder.write("x", "old");
  {
    OutputFile out(folder / "x");
    out.write("new");
    EXPECT_EQ(test::contents(folder / "x"), "old");
  }

  EXPECT_EQ(test::contents(folder / "x"), "old");
}

TEST(OutputFile, the_file_behind_a_link_is_replaced_and_the_link_remains) {
  const test::TemporaryFolder folder;
  folder.write("target", "old");
  std::filesystem::create_symlink(folder / "target", folder / "link");
  OutputFile out(folder / "link");
  out.write("new");
  out.commit();

  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(test::contents(folder / "target"), "new");
}

TEST(OutputFile, gzip_reads_back_and_depends_on_the_contents_alone) {
  const test::TemporaryFolder folder;
  std::string text;
  for (std::int64_t i = 0; i < 300'000; ++i) text += std::to_string(i * 7919) + "\n";
  for (const auto* name : {"a.gz", "b.gz"}) {
    OutputFile out(folder / name, OutputFile::Compression::gzip);
    for (std::size_t i = 0; i < text.size(); i += 12'345) out.write(std::string_view(text).substr(i, 12'345));
    out.commit();
  }
  const InputFile file(folder / "a.gz");
  ByteStream stream(file, 1000);
  std::string back;
  while (stream.next(back)) {
  }

  EXPECT_EQ(back, text);
  EXPECT_EQ(test::contents(folder / "a.gz"), test::contents(folder / "b.gz"));
}

TEST(OutputFile, a_full_device_is_a_resource_error_and_the_device_remains) {
  try {
    OutputFile out("/dev/full");
    out.write("x");
    out.commit();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::resource);
    EXPECT_STREQ(e.what(), "/dev/full: cannot be written: No space left on device");
  }
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST(OutputFile, a_full_disk_leaves_no_half_file) {
  const test::TemporaryFolder folder;
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1 << 16, before.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  Errc code = Errc::internal;
  try {
    OutputFile out(folder / "x");
    out.write(std::string(4 << 20, 'x'));
    out.commit();
  } catch (const Error& e) {
    code = e.code();
  }
  setrlimit(RLIMIT_FSIZE, &before);

  EXPECT_EQ(code, Errc::resource);
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
  EXPECT_FALSE(std::filesystem::exists(folder / "x.partial"));
}

TEST(OutputFile, a_missing_folder_is_told_by_the_files_name) {
  try {
    OutputFile out("/nowhere/at/all/x.tns");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::io);
    EXPECT_STREQ(e.what(), "/nowhere/at/all/x.tns: cannot be written: No such file or directory");
  }
}

}  // namespace
}  // namespace polyad::io
