// Options as texts: what they mean, and that nonsense names the field of the options struct.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "polyad/polyad.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad {
namespace {

std::string refusal_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_option);
    return error.what();
  }
  return "accepted";
}

TEST(LoadTexts, ThatAreEmptyMeanTheDefaults) {
  const auto options = load_options({});
  EXPECT_FALSE(options.format || options.index_base || options.duplicates);
  EXPECT_TRUE(options.dims.empty() && options.min_count.empty() && options.labels.files.empty());
  EXPECT_EQ(options.transform, Transform::none);
  EXPECT_TRUE(given_options({}).empty());
}

TEST(LoadTexts, MeanOptionsAndAreRepeatedAsTheProgramTakesThem) {
  LoadTexts texts;
  texts.format = "frostt";
  texts.index_base = 0;
  texts.dims = "30x24,659";
  texts.table.header = false;
  texts.table.missing = 99;
  texts.duplicates = "count";
  texts.transform = "log1p";
  texts.min_count = "5,5,1";
  texts.labels = {"2=b.txt"};
  const auto options = load_options(texts);
  EXPECT_EQ(options.format, io::format_by_name("frostt"));
  EXPECT_EQ(options.index_base, 0);
  EXPECT_EQ(options.dims, (std::vector<Index>{30, 24, 659}));
  EXPECT_EQ(options.min_count, (std::vector<Index>{5, 5, 1}));
  EXPECT_EQ(options.duplicates, Duplicates::count);
  EXPECT_EQ(options.transform, Transform::log1p);
  ASSERT_EQ(options.labels.files.size(), 1U);
  EXPECT_EQ(options.labels.files[0].mode, 1);
  EXPECT_EQ(options.labels.files[0].path, "b.txt");
  EXPECT_EQ(given_options(texts),
            (std::vector<std::string>{"--input-format", "frostt", "--index-base", "0", "--dims", "30x24,659",
                                      "--duplicates", "count", "--transform", "log1p", "--min-count", "5,5,1",
                                      "--no-header", "--missing-value", "99", "--labels", "2=b.txt"}));
}

TEST(LoadTexts, OfLabelsAreFilesOneFolderOrNone) {
  const test::TemporaryFolder folder;
  const auto path = (folder / "labels").string();
  std::filesystem::create_directory(path);
  EXPECT_EQ(parse_label_sources({path, "1=a"}).folder, path);
  EXPECT_TRUE(parse_label_sources({"none"}).none);
  const std::string expected =
      ": expected MODE=FILE, with the mode counted from 1, one folder of label files, or none";
  for (const auto* text : {"0=a", "1=", "x=a", "missing", "1.5=a"})
    EXPECT_EQ(refusal_of([&] { parse_label_sources({text}); }), "labels " + std::string(text) + expected);
  EXPECT_EQ(refusal_of([&] { parse_label_sources({path, path}); }), "labels " + path + expected);
  EXPECT_EQ(refusal_of([&] {
              parse_label_sources({"none", "1=a"});
            }),
            "labels none takes no labels, and other labels name some");
}

TEST(DistributionTexts, MeanOptions) {
  DistributionTexts texts;
  auto options = parse_distribution(texts, 7, 3);
  EXPECT_FALSE(options.scheme || options.grid || options.policy || options.row_rule || options.is_replicated);
  EXPECT_EQ(options.partition, DistributionOptions::Partition::any);
  EXPECT_EQ(options.seed, 7U);
  texts.scheme = "medium";
  texts.grid = "2x3x1";
  texts.policy_c = 2;
  texts.row_owners = "even";
  texts.replicate = "1,3";
  texts.partition = "parts.txt";
  options = parse_distribution(texts, 1, 3);
  EXPECT_EQ(options.scheme, Scheme::medium);
  EXPECT_EQ(options.grid->dims(), (std::vector<int>{2, 3, 1}));
  EXPECT_EQ(options.policy, (LayerPolicy{LayerPolicy::Kind::ordered, 2}));
  EXPECT_EQ(options.row_rule, RowRule::even);
  EXPECT_TRUE(options.row_owners_file.empty());
  EXPECT_EQ(options.is_replicated, (std::vector<bool>{true, false, true}));
  EXPECT_EQ(options.partition, DistributionOptions::Partition::file);
  EXPECT_EQ(options.partition_file, "parts.txt");
  texts.row_owners = "rows.txt";
  options = parse_distribution(texts, 1, 3);
  EXPECT_EQ(options.row_rule, RowRule::file);
  EXPECT_EQ(options.row_owners_file, "rows.txt");
}

TEST(DistributionTexts, ThatMakeNoSenseAreRefused) {
  const auto refusal = [](const DistributionTexts& texts) {
    return refusal_of([&] { parse_distribution(texts, 1, 3); });
  };
  DistributionTexts texts;
  texts.grid = "2x3";
  EXPECT_EQ(refusal(texts), "grid 2x3: expected a number for each of the 3 modes");
  texts = {};
  texts.replicate = "4";
  EXPECT_EQ(refusal(texts), "is_replicated 4: expected auto, none, or modes from 1 to 3, as in 2,3");
  texts = {};
  texts.policy = "nnz";
  texts.policy_c = 2;
  EXPECT_EQ(refusal(texts), "policy_c is for the policy 'ordered', not for nnz");
  texts.policy = "ordered-1";
  EXPECT_EQ(refusal(texts), "policy ordered-1 and policy_c 2 contradict each other");
}

TEST(CompleteTexts, OfTestRatings) {
  using Kind = TestRatings::Kind;
  EXPECT_EQ(parse_test("", {}).kind, Kind::none);
  EXPECT_EQ(parse_test("leave-one-out", {}).kind, Kind::leave_one_out);
  EXPECT_EQ(parse_test("0.25", {}).kind, Kind::fraction);
  EXPECT_EQ(parse_test("0.25", {}).fraction, 0.25);
  const auto file = parse_test("0.25.csv", {.columns = "a,b,c"});
  EXPECT_EQ(file.kind, Kind::file);
  EXPECT_EQ(file.file, "0.25.csv");
  EXPECT_EQ(file.file_options.columns, "a,b,c");
  EXPECT_EQ(parse_test_split("0.1").kind, Kind::fraction);
  EXPECT_EQ(refusal_of([] { parse_test_split("x.csv"); }),
            "test x.csv: expected a fraction, as in 0.1, or leave-one-out");
}

TEST(CompleteTexts, OfProcesses) {
  EXPECT_EQ(parse_sync("auto", 4), CompleteOptions::sync_auto);
  EXPECT_EQ(parse_sync("max", 4), CompleteOptions::sync_max);
  EXPECT_EQ(parse_sync("4", 4), 4);
  for (const auto* text : {"0", "5", "x", "1.5"})
    EXPECT_EQ(
        refusal_of([&] { parse_sync(text, 4); }),
        "sync " + std::string(text) + ": expected auto, max, or a number from 1 to that of processes, 4");
  EXPECT_EQ(parse_distributed_side("auto"), DistributedSide::automatic);
  EXPECT_EQ(parse_distributed_side("items"), DistributedSide::items);
  EXPECT_EQ(parse_rating_partition("block"), RatingPartition::block);
  EXPECT_EQ(parse_rating_partition("x.part"), RatingPartition::file);
}

TEST(CompleteTexts, OfASearchAreUsualValuesOrGivenOnes) {
  const CompleteOptions options;
  const auto usual = usual_grid(options);
  const auto grid = parse_search({"rank=8,1e2", "reg"}, options);
  EXPECT_EQ(grid.factors, (std::vector<Index>{8, 100}));
  EXPECT_EQ(grid.regularisation, usual.regularisation);
  EXPECT_TRUE(grid.learning_rate.empty() && grid.alpha.empty());
  EXPECT_EQ(parse_search({"auto"}, options).learning_rate, usual.learning_rate);
  EXPECT_EQ(parse_search({"auto", "lr=0.5,.25"}, options).learning_rate, (std::vector<double>{0.5, 0.25}));
  const auto refusal = [&](const std::string& text) {
    return refusal_of([&] { parse_search({text}, options); });
  };
  EXPECT_EQ(refusal("rank=4,x"), "search rank=4,x: 'x' is not a number; expected as in rank=8,16,32");
  EXPECT_EQ(refusal("alpha"), "search alpha: method sgd has no such setting");
  EXPECT_EQ(refusal("auto=1"),
            "search auto=1: expected auto, or rank, reg, lr or alpha with or without values, as in "
            "rank=8,16,32");
}

}  // namespace
}  // namespace polyad
