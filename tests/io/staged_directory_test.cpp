#include "polyad/io/bytes/staged_directory.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/output_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad::io {
namespace {

namespace fs = std::filesystem;
using test::contents;
using test::names_in;
using Names = std::vector<std::string>;

ModelFiles files() {
  return {[](const fs::path& name) { return name.string().starts_with("part"); },
          [](const fs::path& directory) { return fs::exists(directory / "part1"); }, "part1"};
}

void write(const fs::path& path, const std::string& text) {
  OutputFile out(path);
  out.write(text);
  out.commit();
}

void put_model(const fs::path& directory, const std::string& text,
               DirectorySwitch how = DirectorySwitch::exchange) {
  StagedDirectory staged(directory, files(), Existing::replaced, how);
  write(staged.path() / "part1", text);
  write(staged.path() / "part2", text);
  staged.commit();
}

class StagedDirectoryTest : public testing::TestWithParam<DirectorySwitch> {
 protected:
  test::TemporaryFolder folder_;
};

TEST_P(StagedDirectoryTest, a_model_is_replaced_and_the_files_of_the_user_stay) {
  put_model(folder_ / "m", "old", GetParam());
  folder_.write("m/part3", "old");
  folder_.write("m/notes", "mine");
  fs::create_symlink("nowhere", folder_ / "m/link");
  fs::create_directories(folder_ / "m/sub/deep");
  folder_.write("m/sub/deep/file", "mine too");
  ASSERT_EQ(chmod((folder_ / "m").c_str(), 0700), 0);

  put_model(folder_ / "m/", "new", GetParam());

  EXPECT_EQ(names_in(folder_ / ""), Names{"m"});
  EXPECT_EQ(names_in(folder_ / "m"), (Names{"link", "notes", "part1", "part2", "sub"}));
  EXPECT_EQ(contents(folder_ / "m/part1") + contents(folder_ / "m/part2"), "newnew");
  EXPECT_EQ(contents(folder_ / "m/notes") + contents(folder_ / "m/sub/deep/file"), "minemine too");
  EXPECT_EQ(fs::status(folder_ / "m").permissions(), fs::perms::owner_all);
}

TEST_P(StagedDirectoryTest, an_error_leaves_the_old_model_and_nothing_else) {
  put_model(folder_ / "m", "old", GetParam());
  {
    StagedDirectory staged(folder_ / "m", files(), Existing::replaced, GetParam());
    write(staged.path() / "part1", "new");
  }
  EXPECT_EQ(names_in(folder_ / ""), Names{"m"});
  EXPECT_EQ(contents(folder_ / "m/part1"), "old");
}

TEST_P(StagedDirectoryTest, what_a_run_that_was_killed_has_left_is_removed_by_the_next) {
  put_model(folder_ / "m", "old", GetParam());
  folder_.write("m/notes", "mine");
  const pid_t child = fork();
  if (child == 0) {
    StagedDirectory staged(folder_ / "m", files(), Existing::replaced, GetParam());
    write(staged.path() / "part1", "half");
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  ASSERT_EQ(names_in(folder_ / "").size(), 2U);
  put_model(folder_ / "m", "new", GetParam());

  EXPECT_EQ(names_in(folder_ / ""), Names{"m"});
  EXPECT_EQ(names_in(folder_ / "m"), (Names{"notes", "part1", "part2"}));
}

TEST_P(StagedDirectoryTest, two_runs_at_once_leave_the_model_of_the_last_whole) {
  put_model(folder_ / "m", "old", GetParam());
  StagedDirectory first(folder_ / "m", files(), Existing::replaced, GetParam()),
      second(folder_ / "m", files(), Existing::replaced, GetParam());
  for (const auto* part : {"part1", "part2"}) {
    write(first.path() / part, "first");
    write(second.path() / part, "second");
  }
  second.commit();
  first.commit();

  EXPECT_EQ(names_in(folder_ / ""), Names{"m"});
  EXPECT_EQ(contents(folder_ / "m/part1") + contents(folder_ / "m/part2"), "firstfirst");
}

INSTANTIATE_TEST_SUITE_P(Both, StagedDirectoryTest,
                         testing::Values(DirectorySwitch::exchange, DirectorySwitch::two_renames));

TEST(StagedDirectory, a_run_that_was_stopped_between_two_renames_left_the_old_model_to_be_found) {
  const test::TemporaryFolder folder;
  put_model(folder / "m", "old");
  fs::rename(folder / "m", folder / ".m.previous");
  EXPECT_EQ(current_directory(folder / "m"), folder / ".m.previous");
  EXPECT_EQ(current_directory(folder / "other"), folder / "other");

  put_model(folder / "m", "new");

  EXPECT_EQ(names_in(folder / ""), Names{"m"});
  EXPECT_EQ(contents(folder / "m/part1"), "new");
}

TEST(StagedDirectory, an_old_directory_that_was_not_removed_gives_back_what_only_it_has) {
  const test::TemporaryFolder folder;
  put_model(folder / "m", "new");
  folder.write("m/both", "newer");
  put_model(folder / ".m.previous", "old");
  folder.write(".m.previous/both", "older");
  folder.write(".m.previous/notes", "mine");

  put_model(folder / "m", "newest");

  EXPECT_EQ(names_in(folder / ""), Names{"m"});
  EXPECT_EQ(names_in(folder / "m"), (Names{"both", "notes", "part1", "part2"}));
  EXPECT_EQ(contents(folder / "m/both"), "newer");
}

TEST(StagedDirectory, a_directory_without_a_model_stays_the_directory_that_it_is) {
  const test::TemporaryFolder folder;
  fs::create_directory(folder / "m");
  folder.write("m/notes", "mine");
  struct stat before {
  }, after{};
  stat((folder / "m").c_str(), &before);
  put_model(folder / "m", "new");
  stat((folder / "m").c_str(), &after);

  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(names_in(folder / "m"), (Names{"notes", "part1", "part2"}));
}

TEST(StagedDirectory, a_model_that_came_meanwhile_is_not_mixed_with) {
  const test::TemporaryFolder folder;
  fs::create_directory(folder / "m");
  StagedDirectory staged(folder / "m", files());
  write(staged.path() / "part1", "late");
  put_model(folder / "m", "first");
  try {
    staged.commit();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::io);
    EXPECT_EQ(e.what(), (folder / "m").string() +
                            ": cannot be written: another run has written a model there in the meantime");
  }
  EXPECT_EQ(contents(folder / "m/part1"), "first");
}

TEST(StagedDirectory, a_signal_removes_the_new_model_and_leaves_the_old) {
  const test::TemporaryFolder folder;
  put_model(folder / "m", "old");
  folder.write("m/notes", "mine");
  const pid_t child = fork();
  if (child == 0) {
    remove_unfinished_on_signals();
    StagedDirectory staged(folder / "m", files());
    for (int i = 0; i < 300; ++i) write(staged.path() / ("part" + std::to_string(i)), "half");
    raise(SIGTERM);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  EXPECT_EQ(names_in(folder / ""), Names{"m"});
  EXPECT_EQ(names_in(folder / "m"), (Names{"notes", "part1", "part2"}));
}

TEST(StagedDirectory, the_current_directory_is_refused_where_it_holds_a_model) {
  const test::TemporaryFolder folder;
  const auto before = fs::current_path();
  fs::create_directory(folder / "m");
  fs::current_path(folder / "m");
  EXPECT_NO_THROW(put_model(".", "first"));
  try {
    put_model(".", "second");
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 ".: holds a model that cannot be replaced as a whole: it is the current directory; run from "
                 "another one, or give another directory");
  }
  fs::current_path(before);
  EXPECT_EQ(contents(folder / "m/part1"), "first");
}

TEST(StagedDirectory, reading_is_repeated_when_the_directory_was_replaced_meanwhile) {
  const test::TemporaryFolder folder;
  put_model(folder / "m", "old");
  std::string read;
  int times = 0;
  read_unchanged(folder / "m", {"part1"}, [&](const fs::path& directory) {
    read = contents(directory / "part1");
    if (++times == 1) put_model(folder / "m", "new");
    read += contents(directory / "part2");
  });
  EXPECT_EQ(read, "newnew");
}

TEST(StagedDirectory, reading_is_repeated_when_a_model_came_or_was_rewritten_meanwhile) {
  const test::TemporaryFolder folder;
  fs::create_directory(folder / "m");
  std::string read;
  int times = 0;
  const auto read_both = [&](const fs::path& directory) {
    read = contents(directory / "part1");
    if (++times == 1) put_model(folder / "m", "new");  // into a directory that stays the same
    if (times == 2) folder.write("m/part1", "changed in its place");
    read += contents(directory / "part2");
  };
  read_unchanged(folder / "m", {"part1"}, read_both);
  EXPECT_EQ(read, "changed in its placenew");
  EXPECT_EQ(times, 3);
}

TEST(StagedDirectory, reading_is_not_repeated_for_other_files_in_the_directory) {
  const test::TemporaryFolder folder;
  put_model(folder / "m", "old");
  int times = 0;
  read_unchanged(folder / "m", {"part1"}, [&](const fs::path&) {
    ++times;
    folder.write("m/log", std::to_string(times));
    folder.write("m/notes" + std::to_string(times), "mine");
  });
  EXPECT_EQ(times, 1);
  const auto fail = [&](const fs::path&) {
    ++times;
    folder.write("m/notes" + std::to_string(times), "mine");
    throw Error(Errc::bad_input, "damaged");
  };
  EXPECT_THROW(read_unchanged(folder / "m", {"part1"}, fail), Error);
  EXPECT_EQ(times, 2);
}

TEST(StagedDirectory, reading_finds_the_old_model_until_the_new_one_has_its_place) {
  const test::TemporaryFolder folder;
  put_model(folder / "m", "old");
  fs::rename(folder / "m", folder / ".m.previous");
  std::string read;
  int times = 0;
  read_unchanged(folder / "m", {"part1"}, [&](const fs::path& directory) {
    read = contents(directory / "part1");
    if (++times == 1) put_model(folder / "m", "new");
    if (!fs::exists(directory)) throw Error(Errc::io, "is gone");
    read += contents(directory / "part2");
  });
  EXPECT_EQ(read, "newnew");
}

TEST(StagedDirectory, a_model_that_came_in_the_meantime_is_not_replaced_unless_it_may_be) {
  const test::TemporaryFolder folder;
  const auto sentence = (folder / "m").string() + ": holds a model already; existing=replaced replaces it";
  StagedDirectory staged(folder / "m", files(), Existing::refused);
  for (const auto* part : {"part1", "part2"}) write(staged.path() / part, "second");
  put_model(folder / "m", "first");
  const auto expect_refused = [&](const std::function<void()>& act) {
    try {
      act();
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::bad_option);
      EXPECT_EQ(e.what(), sentence);
    }
  };
  expect_refused([&] { staged.commit(); });
  expect_refused([&] { StagedDirectory::check_place(folder / "m", files(), Existing::refused); });
  EXPECT_EQ(contents(folder / "m/part1") + contents(folder / "m/part2"), "firstfirst");
}

}  // namespace
}  // namespace polyad::io
