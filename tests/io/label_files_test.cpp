#include "polyad/io/label_files.hpp"

#include <gtest/gtest.h>

#include "polyad/base/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad::io {
namespace {

TEST(LabelFiles, are_found_beside_the_tensor_by_their_names) {
  const test::TemporaryFolder folder;
  folder.write("mode-1-team.map", "red\nblue\n");
  folder.write("mode-3.map", "x\r\ny");
  folder.write("mode-9-far.map", "z\n");
  folder.write("mode-x-none.map", "z\n");
  folder.write("notes.map", "z\n");

  const auto labels = find_labels_beside(folder / "x.tns", 3).labels;

  EXPECT_EQ(labels, (std::vector<ModeLabels>{{"team", {"red", "blue"}}, {"", {}}, {"", {"x", "y"}}}));
}

TEST(LabelFiles, are_written_beside_and_read_back) {
  const test::TemporaryFolder folder;
  const std::vector<ModeLabels> labels{{"a/b c", {"x"}}, {"", {}}, {"day", {"1", "2"}}};

  const auto written = write_label_files(folder / "x.tns", labels);

  ASSERT_EQ(written.size(), 2);
  EXPECT_EQ(written[0].filename(), "mode-1-a_b_c.map");
  EXPECT_EQ(test::contents(written[1]), "1\n2\n");
  EXPECT_EQ(find_labels_beside(folder / "x.tns", 3).labels[2], labels[2]);
}

TEST(LabelFiles, other_labels_are_not_overwritten) {
  const test::TemporaryFolder folder;
  folder.write("mode-1-day.map", "Monday\n");
  const std::vector<ModeLabels> labels{{"day", {"Tuesday"}}};

  EXPECT_THROW(write_label_files(folder / "x.tns", labels), Error);
  EXPECT_EQ(test::contents(folder / "mode-1-day.map"), "Monday\n");
}

TEST(LabelFiles, labels_of_another_name_for_the_same_mode_are_not_shadowed) {
  const test::TemporaryFolder folder;
  folder.write("mode-1-alpha.map", "x\n");
  const std::vector<ModeLabels> labels{{"day", {"Tuesday"}}};

  EXPECT_THROW(write_label_files(folder / "x.tns", labels), Error);
  folder.write("mode-1-beta.map", "y\n");
  const auto found = find_labels_beside(folder / "x.tns", 1);
  EXPECT_EQ(found.labels[0].name, "alpha");
  EXPECT_EQ(
      found.notes,
      (std::vector<std::string>{"2 label files claim mode 1; mode-1-alpha.map is taken (--labels decides)"}));
}

TEST(LabelFiles, equal_labels_that_lie_there_already_are_left_alone) {
  const test::TemporaryFolder folder;
  folder.write("mode-1-alpha.map", "x\n");

  EXPECT_TRUE(write_label_files(folder / "y.tns", std::vector<ModeLabels>{{"beta", {"x"}}}).empty());
}

TEST(LabelFiles, are_known_by_their_names) {
  for (const char* name : {"mode-1.map", "mode-12-who.map", "a/mode-3-a-b.map.gz"})
    EXPECT_TRUE(is_label_file(name)) << name;
  for (const char* name : {"mode1.mat", "mode-0.map", "mode-x.map", "mode-1.txt", "who.map", "mode-17.map"})
    EXPECT_FALSE(is_label_file(name)) << name;
  const test::TemporaryFolder folder;
  folder.write("mode-2.map", "");
  folder.write("mode-1-who.map.gz", "");
  folder.write("x.tns", "");
  EXPECT_EQ(label_files_beside(folder / "x.tns"),
            (std::vector<std::filesystem::path>{folder / "mode-1-who.map.gz", folder / "mode-2.map"}));
}

}  // namespace
}  // namespace polyad::io
