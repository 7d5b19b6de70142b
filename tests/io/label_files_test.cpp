#include "polyad/io/models/label_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/output_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad::io {
namespace {

using Strings = std::vector<std::string>;

TEST(LabelFiles, belong_to_the_tensor_whose_name_they_bear) {
  const test::TemporaryFolder folder;
  folder.write("x.mode-1-team.map", "red\nblue\n");
  folder.write("x.mode-3.map", "x\r\ny");
  folder.write("x.mode-9-far.map", "z\n");
  folder.write("x.mode-x-none.map", "z\n");
  folder.write("y.mode-2-other.map", "z\nz\n");
  folder.write("xx.tns", "");

  for (const char* name : {"x.tns", "x.tns.gz", "x.bin", "x"}) {
    const auto found = find_labels(labels_of_tensor(folder / name), std::array<Index, 3>{2, 2, 2});
    EXPECT_EQ(found.labels, (std::vector<ModeLabels>{{"team", {"red", "blue"}}, {"", {}}, {"", {"x", "y"}}}));
    EXPECT_EQ(found.warnings, Strings());
    EXPECT_EQ(found.notes, Strings());
  }
  EXPECT_EQ(find_labels(labels_of_tensor(folder / "y.tns"), std::array<Index, 2>{2, 2}).labels[1].name,
            "other");
}

TEST(LabelFiles, without_a_name_before_them_are_taken_where_there_is_one_tensor) {
  const test::TemporaryFolder folder;
  folder.write("mode-1-team.map", "red\nblue\n");
  folder.write("mode-2.map", "a\nb\nc\n");
  folder.write("x.tns", "");
  folder.write("x.ptb", "");  // the same tensor
  folder.write("x.ktensor", "");
  folder.write("README.md", "");

  const auto found = find_labels(labels_of_tensor(folder / "x.tns"), std::array<Index, 2>{2, 2});

  EXPECT_EQ(found.labels[0], (ModeLabels{"team", {"red", "blue"}}));
  EXPECT_EQ(found.labels[1], (ModeLabels{"", {"a", "b", "c"}}));
  EXPECT_EQ(found.notes,
            Strings{"labels were taken from mode-1-team.map and mode-2.map, as the folder holds no "
                    "other tensor (" +
                    option_name("labels.none") + " takes none)"});
  EXPECT_FALSE(
      find_labels(labels_of_model_file(folder / "x.ktensor"), std::array<Index, 2>{2, 2}).labels[0].empty());
}

TEST(LabelFiles, without_a_name_before_them_are_left_where_there_are_several_tensors) {
  const test::TemporaryFolder folder;
  folder.write("mode-1-team.map", "red\nblue\n");
  folder.write("x.tns", "");
  folder.write("y.tns.gz", "");

  const auto found = find_labels(labels_of_tensor(folder / "x.tns"), std::array<Index, 2>{2, 2});

  EXPECT_TRUE(found.labels[0].empty());
  EXPECT_EQ(
      found.notes,
      Strings{
          "mode-1-team.map was not taken as labels: the folder also holds y.tns.gz, and the file may name "
          "its indices; " +
          option_name("labels.folder") + " " + (folder / "").parent_path().string() +
          " takes all such files, the name x.mode-1-team.map makes one belong to this tensor"});
  EXPECT_EQ(find_labels_in(folder / "", std::array<Index, 2>{2, 2}).labels[0].name, "team");
}

TEST(LabelFiles, without_a_name_before_them_are_left_where_they_are_too_short) {
  const test::TemporaryFolder folder;
  const auto map = folder.write("mode-1-team.map", "red\nblue\n");

  const auto found = find_labels(labels_of_tensor(folder / "x.tns"), std::array<Index, 2>{3, 2});

  EXPECT_TRUE(found.labels[0].empty());
  EXPECT_EQ(found.notes,
            Strings{"mode-1-team.map was not taken as labels: it has 2 lines, mode 1 has 3 indices; " +
                    option_name("labels.files") + " 1=" + map.string() + " takes it"});
}

TEST(LabelFiles, are_read_no_further_than_twice_the_length_of_the_mode) {
  const test::TemporaryFolder folder;
  folder.write("x.mode-1.map", "a\nb\nc\nd\ne\n");

  const auto found = find_labels(labels_of_tensor(folder / "x.tns"), std::array<Index, 2>{2, 2});

  EXPECT_EQ(found.labels[0].labels, (Strings{"a", "b", "c", "d"}));
  EXPECT_EQ(
      found.warnings,
      Strings{
          "x.mode-1.map has more than twice as many labels as mode 1 has indices, 2; the first 4 were read"});
}

TEST(LabelFiles, that_would_fill_the_memory_are_refused) {
  const test::TemporaryFolder folder;
  const auto path = folder / "x.mode-1.map.gz";
  OutputFile out(path, OutputFile::Compression::gzip);
  out.write(std::string(std::size_t(4) << 20, '\n'));
  out.commit();
  ASSERT_LT(std::filesystem::file_size(path), 8000);

  try {
    find_labels(labels_of_tensor(folder / "x.tns"), std::array<Index, 1>{Index(1) << 62});
    FAIL() << "not refused";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::bad_input);
    EXPECT_NE(std::string(e.what()).find("of labels, more than names do"), std::string::npos) << e.what();
  }
}

TEST(LabelFiles, that_are_no_files_are_passed_over) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "x.mode-1-team.map");
  ASSERT_EQ(mkfifo((folder / "mode-2-pipe.map").c_str(), 0600), 0);
  std::filesystem::create_symlink("nowhere", folder / "x.mode-2.map");

  const auto found = find_labels(labels_of_tensor(folder / "x.tns"), std::array<Index, 2>{2, 2});

  EXPECT_TRUE(found.labels[0].empty() && found.labels[1].empty());
  EXPECT_EQ(found.warnings, (Strings{"x.mode-1-team.map is no regular file and names nothing",
                                     "x.mode-2.map is no regular file and names nothing"}));
}

TEST(LabelFiles, of_a_model_that_is_a_folder_lie_in_it) {
  const test::TemporaryFolder folder;
  folder.write("mode-1-team.map", "red\nblue\n");
  folder.write("lambda.mat", "1\n");
  folder.write("other.tns", "");

  const auto found = find_labels(labels_of_model_folder(folder / ""), std::array<Index, 2>{3, 2});

  EXPECT_EQ(found.labels[0], (ModeLabels{"team", {"red", "blue"}}));
  EXPECT_EQ(found.notes, Strings());
}

TEST(LabelFiles, are_written_beside_and_read_back) {
  const test::TemporaryFolder folder;
  const std::vector<ModeLabels> labels{{"a/b c", {"x"}}, {"", {}}, {"day", {"1", "2"}}};

  const auto written = write_label_files(labels_of_tensor(folder / "x.tns.gz"), labels);

  ASSERT_EQ(written.size(), 2);
  EXPECT_EQ(written[0].filename(), "x.mode-1-a_b_c.map");
  EXPECT_EQ(test::contents(written[1]), "1\n2\n");
  EXPECT_EQ(find_labels(labels_of_tensor(folder / "x.tns"), std::array<Index, 3>{1, 1, 2}).labels[2],
            labels[2]);
  EXPECT_EQ(write_label_files(labels_of_model_folder(folder / ""), labels)[1].filename(), "mode-3-day.map");
}

TEST(LabelFiles, other_labels_are_not_overwritten) {
  const test::TemporaryFolder folder;
  folder.write("x.mode-1-day.map", "Monday\n");
  const std::vector<ModeLabels> labels{{"day", {"Tuesday"}}};

  EXPECT_THROW(write_label_files(labels_of_tensor(folder / "x.tns"), labels), Error);
  EXPECT_THROW(check_label_files(labels_of_tensor(folder / "x.bin"), {}), Error)
      << "it would get their labels";
  EXPECT_EQ(test::contents(folder / "x.mode-1-day.map"), "Monday\n");
  EXPECT_EQ(write_label_files(labels_of_tensor(folder / "y.tns"), labels).size(), 1);
}

TEST(LabelFiles, labels_of_another_name_for_the_same_mode_are_not_shadowed) {
  const test::TemporaryFolder folder;
  folder.write("mode-1-alpha.map", "x\n");
  const auto place = labels_of_model_folder(folder / "");

  EXPECT_THROW(write_label_files(place, std::vector<ModeLabels>{{"day", {"Tuesday"}}}), Error);
  folder.write("mode-1-beta.map", "y\n");
  const auto found = find_labels(place, std::array<Index, 1>{1});
  EXPECT_EQ(found.labels[0].name, "alpha");
  EXPECT_EQ(found.warnings, Strings{"2 label files claim mode 1; mode-1-alpha.map is taken (" +
                                    option_name("labels") + " decides)"});
}

TEST(LabelFiles, equal_labels_that_lie_there_already_are_left_alone) {
  const test::TemporaryFolder folder;
  folder.write("y.mode-1-alpha.map", "x\n");

  EXPECT_TRUE(write_label_files(labels_of_tensor(folder / "y.tns"), std::vector<ModeLabels>{{"beta", {"x"}}})
                  .empty());
}

TEST(LabelFiles, are_known_by_their_names) {
  for (const char* name : {"mode-1.map", "mode-12-who.map", "a/mode-3-a-b.map.gz"})
    EXPECT_TRUE(is_label_file(name)) << name;
  for (const char* name :
       {"mode1.mat", "mode-0.map", "mode-x.map", "mode-1.txt", "who.map", "mode-17.map", "x.mode-1.map"})
    EXPECT_FALSE(is_label_file(name)) << name;
  const test::TemporaryFolder folder;
  folder.write("mode-2.map", "");
  folder.write("x.mode-1-who.map.gz", "");
  folder.write("y.mode-1.map", "");
  folder.write("x.tns", "");
  EXPECT_EQ(label_files_at(labels_of_tensor(folder / "x.tns")),
            (std::vector<std::filesystem::path>{folder / "mode-2.map", folder / "x.mode-1-who.map.gz"}));
}

TEST(LabelFiles, tell_the_name_of_the_mode) {
  const test::TemporaryFolder folder;
  for (const char* name : {"mode-1-who.map", "x.mode-1-who.map", "a.b.mode-1-who.map"})
    EXPECT_EQ(read_labels(folder.write(name, "ann\n")).labels, (ModeLabels{"who", {"ann"}})) << name;
  EXPECT_EQ(read_labels(folder.write("names", "ann\n")).labels, (ModeLabels{"", {"ann"}}));
}

}  // namespace
}  // namespace polyad::io
