#include "polyad/io/bytes/output_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "polyad/base/error.hpp"
#include "polyad/base/unfinished_paths.hpp"
#include "polyad/io/bytes/byte_stream.hpp"
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
  EXPECT_TRUE(test::names_in(folder / "").empty());

  OutputFile out(folder / "x");
  out.write("whole");
  out.commit();

  EXPECT_EQ(test::contents(folder / "x"), "whole");
  EXPECT_EQ(test::names_in(folder / ""), std::vector<std::string>{"x"});
}

TEST(OutputFile, two_writers_do_not_mix_and_the_last_wins) {
  const test::TemporaryFolder folder;
  OutputFile first(folder / "x"), second(folder / "x");
  for (int i = 0; i < 100'000; ++i) {
    first.write("first writer\n");
    second.write("second\n");
  }
  second.commit();
  EXPECT_EQ(std::filesystem::file_size(folder / "x"), 700'000U);
  first.commit();

  EXPECT_EQ(std::filesystem::file_size(folder / "x"), 1'300'000U);
  EXPECT_EQ(test::names_in(folder / ""), std::vector<std::string>{"x"});
}

TEST(OutputFile, a_file_that_came_in_the_meantime_is_not_replaced_unless_it_may_be) {
  const test::TemporaryFolder folder;
  OutputFile out(folder / "x", OutputFile::Compression::none, Existing::refused);
  out.write("second");
  folder.write("x", "first");
  try {
    out.commit();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::bad_option);
    EXPECT_EQ(e.what(), (folder / "x").string() + ": exists already; existing=replaced replaces it");
  }
  EXPECT_EQ(test::contents(folder / "x"), "first");

  OutputFile free(folder / "y", OutputFile::Compression::none, Existing::refused);
  free.write("new");
  free.commit();
  EXPECT_EQ(test::contents(folder / "y"), "new");
}

TEST(OutputFile, a_link_planted_under_the_old_temporary_name_is_not_followed) {
  const test::TemporaryFolder folder;
  folder.write("victim", "mine");
  std::filesystem::create_symlink(folder / "victim", folder / "x.partial");
  OutputFile out(folder / "x");
  out.write("new");
  out.commit();

  EXPECT_EQ(test::contents(folder / "victim"), "mine");
  EXPECT_EQ(test::contents(folder / "x"), "new");
}

// Needs another user: root can make the link theirs.
TEST(OutputFile, a_link_of_another_user_in_a_shared_folder_is_refused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a link to another user";
  const test::TemporaryFolder folder;
  folder.write("victim", "mine");
  std::filesystem::create_directory(folder / "shared");
  std::filesystem::create_symlink(folder / "victim", folder / "shared/x");
  ASSERT_EQ(lchown((folder / "shared/x").c_str(), 12345, 12345), 0);
  EXPECT_NO_THROW(OutputFile(folder / "shared/x"));
  ASSERT_EQ(chmod((folder / "shared").c_str(), 01777), 0);
  try {
    OutputFile out(folder / "shared/x");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::io);
    EXPECT_EQ(e.what(), (folder / "shared/x").string() +
                            ": cannot be written: it is a symbolic link of another user in a folder that "
                            "others may write to; give the path of the file itself");
  }
  EXPECT_EQ(test::contents(folder / "victim"), "mine");
}

mode_t mode_of(const std::filesystem::path& path) {
  struct stat status {};
  stat(path.c_str(), &status);
  return status.st_mode & 07777;
}

TEST(OutputFile, the_permissions_of_a_file_that_is_replaced_are_kept) {
  const test::TemporaryFolder folder;
  for (const mode_t mode : {0600U, 0640U, 0444U}) {
    folder.write("x", "old");
    ASSERT_EQ(chmod((folder / "x").c_str(), mode), 0);
    OutputFile out(folder / "x");
    // The new file may be written by its owner until it takes its place; nobody else may do more than before.
    for (const auto& name : test::names_in(folder / ""))
      EXPECT_EQ(mode_of(folder / name) & ~mode_t(S_IWUSR), mode & ~mode_t(S_IWUSR)) << name;
    out.commit();
    EXPECT_EQ(mode_of(folder / "x"), mode);
    std::filesystem::remove(folder / "x");
  }
}

TEST(OutputFile, what_a_run_that_was_killed_has_left_is_removed_by_the_next) {
  const test::TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    OutputFile out(folder / "x");
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  ASSERT_EQ(test::names_in(folder / "").size(), 1U);
  OutputFile going_on(folder / "x");
  OutputFile out(folder / "x");
  out.commit();
  EXPECT_EQ(test::names_in(folder / "").size(), 2U);  // x and the temporary file of going_on
  going_on.commit();
  EXPECT_EQ(test::names_in(folder / ""), std::vector<std::string>{"x"});
}

TEST(OutputFile, a_signal_removes_what_is_unfinished_and_ends_the_process_as_before) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const test::TemporaryFolder folder;
    folder.write("x", "old");
    const pid_t child = fork();
    if (child == 0) {
      remove_unfinished_on_signals();
      OutputFile out(folder / "x"), other(folder / "y");
      raise(signal);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_EQ(test::names_in(folder / ""), std::vector<std::string>{"x"});
    EXPECT_EQ(test::contents(folder / "x"), "old");
  }
}

TEST(OutputFile, names_as_long_as_the_file_system_takes_are_written) {
  const test::TemporaryFolder folder;
  const std::string name(255, 'n');
  OutputFile out(folder / name);
  out.commit();
  EXPECT_EQ(test::names_in(folder / ""), std::vector<std::string>{name});
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
  EXPECT_TRUE(test::names_in(folder / "").empty());
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
