#include "polyad/tasks/convert.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "polyad/io/models/kruskal.hpp"
#include "polyad/tasks/check.hpp"
#include "tests/support/kruskal_samples.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad {
namespace {

// The messages that a context has received.
struct Heard {
  std::vector<std::string> texts;
  Context context =
      Context::serial({.on_message = [this](const Message& message) { texts.push_back(message.text); }});
};

template <class Fn>
Error error_of(Fn fn) {
  try {
    fn();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(Errc::internal, "");
}

TEST(Convert, KeepsEveryBitThroughAllFormats) {
  const auto context = Context::serial();
  const test::TemporaryFolder folder;
  int number = 0;
  for (const auto& shape : {std::vector<Index>{4, 3, 2}, {20, 1, 30, 4}, {3, 5}}) {
    const auto x = test::random_tensor(shape, 50, 7);
    const auto first = folder / ("x" + std::to_string(++number) + ".tns");
    save(context, make_tensor(x), first);
    auto last = first;
    for (const char* extension : {".ptb", ".tns.gz", ".bin"}) {
      const auto next = folder / ("y" + std::to_string(number) + extension);
      EXPECT_EQ(convert(context, last, next).dims(), shape);
      last = next;
    }
    EXPECT_EQ(load(context, last, {.dims = shape}).tensor, x);
  }
}

TEST(Convert, WritesLabelsBesideFormatsThatHoldNone) {
  const auto context = Context::serial();
  const test::TemporaryFolder folder;
  const auto csv = folder.write("x.csv", "who,what,n\nbob,tea,2\nann,tea,1\n");
  const auto result = convert(context, csv, folder / "y.tns", {.load = {.columns = "who,what,n"}});
  ASSERT_EQ(result.label_files().size(), 2);
  EXPECT_EQ(test::contents(result.label_files()[0]), "ann\nbob\n");
  const auto json = nlohmann::json::parse(result.json());
  EXPECT_EQ(json["labels"].size(), 2);
  EXPECT_EQ(json["format"], "tns");
  EXPECT_EQ(json["nnz"], 2);
}

TEST(Convert, ReplacesAFileOnlyOnRequest) {
  const auto context = Context::serial();
  const test::TemporaryFolder folder;
  const auto x = folder.write("x.tns", "1 1 1\n"), y = folder.write("y.ptb", "precious");
  EXPECT_EQ(error_of([&] { convert(context, x, y); }).code(), Errc::bad_option);
  EXPECT_EQ(test::contents(y), "precious");
  convert(context, x, y, {.save = {.existing = Existing::replaced}});
  EXPECT_EQ(load(context, y).tensor.num_nonzeros(), 1);
}

TEST(Convert, ConvertsModels) {
  const auto context = Context::serial();
  const test::TemporaryFolder folder;
  const auto model = test::sample({3, 4, 2}, 3);
  io::write_kruskal(folder / "a.ktensor", model, io::KruskalFormat::ktensor);
  EXPECT_EQ(check_conversion(folder / "a.ktensor", folder / "b.npz"), ConversionOutput::model_file);
  EXPECT_EQ(check_conversion(folder / "a.ktensor", folder / "c"), ConversionOutput::model_directory);
  const auto result = convert(context, folder / "a.ktensor", folder / "b.npz");
  EXPECT_EQ(result.summary(), (folder / "b.npz").string() + ": 3x4x2 Kruskal tensor with 3 components");
  convert(context, folder / "b.npz", folder / "c");
  EXPECT_TRUE(test::same_bits(io::read_kruskal(folder / "c"), model));
  EXPECT_EQ(error_of([&] { convert(context, folder / "c", folder / "d.tns"); }).what(),
            (folder / "d.tns").string() +
                ": a Kruskal tensor is written as NAME.ktensor, NAME.npz or a folder of SPLATT's .mat files");
  EXPECT_EQ(
      error_of([&] {
        convert(context, folder / "c", folder / "d", {.load = {.dims = {3, 4, 2}}});
      }).what(),
      (folder / "c").string() + ": holds a Kruskal tensor: only its path and the output are to be given");
}

TEST(Check, ReportsEveryFaultAndKeepsWhatIsSound) {
  Heard heard;
  const test::TemporaryFolder folder;
  const auto x = folder.write("x.tns", "2 2 5\n1 x 1\n1 1 1\n2 2 nan\n1 1 2\n1 2\n");
  const auto result = check(heard.context, x);
  std::vector<Index> lines;
  for (const auto& fault : result.faults()) lines.push_back(fault.line);
  EXPECT_EQ(lines, (std::vector<Index>{2, 4, 6}));
  EXPECT_EQ(result.faults()[0].message, "index 'x' of mode 2 is not a whole number");
  EXPECT_EQ(result.verdict(), "3 faults");
  EXPECT_EQ(result.num_duplicates(), 1);
  EXPECT_EQ(result.sound().tensor.num_nonzeros(), 2);
  EXPECT_EQ(result.sound().tensor.values()[0], 3);
  EXPECT_EQ(heard.texts, std::vector<std::string>{x.string() + ": 1 duplicate coordinate"});
  EXPECT_EQ(test::names_in(x.parent_path()), std::vector<std::string>{"x.tns"});

  const auto fixed = folder / "fixed.tns";
  check(heard.context, x, {.fix = fixed});
  EXPECT_EQ(heard.texts.back(), x.string() + ": 1 duplicate coordinate was added up");
  EXPECT_TRUE(check(heard.context, fixed).faults().empty());
  EXPECT_EQ(load(heard.context, fixed).tensor, result.sound().tensor);
  EXPECT_EQ(error_of([&] { check(heard.context, x, {.fix = fixed}); }).code(), Errc::bad_option);
  check(heard.context, x, {.fix = fixed, .existing = Existing::replaced});
}

TEST(Check, RefusesANameThatMeansNoFormat) {
  EXPECT_EQ(error_of([] { validate(CheckOptions{.fix = "fixed.doc"}); }).code(), Errc::bad_option);
}

}  // namespace
}  // namespace polyad
