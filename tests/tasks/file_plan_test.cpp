#include "polyad/tasks/file_plan.hpp"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"

namespace polyad {
namespace {

void expect_refused(const FilePlan& plan, Errc code, const std::string& message) {
  try {
    plan.check();
    ADD_FAILURE() << "accepted; expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(std::string(error.what()), message);
  }
}

TEST(FilePlan, NoOutputTakesThePlaceOfAnInputOrAnotherOutput) {
  const test::TemporaryFolder folder;
  const auto x = folder.write("x.tns", "1 1 1\n");
  std::filesystem::create_hard_link(x, folder / "link.tns");
  expect_refused(FilePlan().reads("the input", x).writes("out", folder / "link.tns"), Errc::bad_option,
                 "out " + (folder / "link.tns").string() + " would overwrite the input");
  expect_refused(FilePlan().writes("out", folder / "y").writes("report", folder / "./y"), Errc::bad_option,
                 "out and report would both write " + (folder / "y").string());
  FilePlan().reads("the input", x).writes("out", folder / "y").writes("report", folder / "z").check();
}

TEST(FilePlan, AWordMisspeltIsNoFile) {
  const test::TemporaryFolder folder;
  const auto x = folder.write("x", "0\n");
  const std::vector<std::string> words = {"auto", "greedy"};
  FilePlan().reads_in_place_of("owners", "", words).reads_in_place_of("owners", x, words).check();
  try {
    FilePlan().reads_in_place_of("owners", "gredy", words);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_option);
    EXPECT_EQ(std::string(error.what()),
              "owners gredy: expected auto, greedy, or a file; there is no such file (did you mean greedy?)");
  }
  expect_refused(FilePlan().reads_in_place_of("owners", x, words).writes("out", x), Errc::bad_option,
                 "out " + x.string() + " would overwrite the file that owners names");
}

TEST(FilePlan, LabelFilesAreInputsToo) {
  const test::TemporaryFolder folder;
  const auto x = folder.write("x.tns", "1 1 1\n");
  const auto labels = folder.write("x.mode-1-team.map", "a\n");
  expect_refused(FilePlan().reads_labelled("the input", x).writes("out", labels), Errc::bad_option,
                 "out " + labels.string() + " would overwrite labels that lie beside the input");
  expect_refused(FilePlan().reads_labels("labels", {.files = {{0, labels}}}).writes("out", labels),
                 Errc::bad_option, "out " + labels.string() + " would overwrite the file that labels names");
  EXPECT_THROW(FilePlan().writes_unlabelled("out", folder / "x.bin").check(), Error);
}

TEST(FilePlan, ModelsAreDirectoriesOrFiles) {
  const test::TemporaryFolder folder;
  FilePlan()
      .writes_cp_model("out", folder / "model")
      .writes_rating_model("other", folder / "ratings")
      .check();
  FilePlan().writes_cp_model("out", folder / "model.npz").check();
  EXPECT_THROW(FilePlan().writes_cp_model("out", folder / "model.xyz"), Error);
  expect_refused(
      FilePlan().writes_cp_model("out", folder / "model").writes("report", folder / "model/mode1.mat"),
      Errc::bad_option,
      "report " + (folder / "model/mode1.mat").string() + " would overwrite a part of what out writes");
}

TEST(FilePlan, OutputsMustBeWritable) {
  const test::TemporaryFolder folder;
  const auto x = folder.write("x", "");
  EXPECT_THROW(FilePlan().writes("out", folder / "none" / "x").check(), Error);
  EXPECT_THROW(FilePlan().writes("out", x, Existing::refused).check(), Error);
  FilePlan().writes("out", x).check();
  FilePlan().writes("out", "").check();  // no file
}

}  // namespace
}  // namespace polyad
